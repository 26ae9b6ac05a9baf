import { gatewayTransport, type Transport } from "evaluator-client";

/** Gives a way to the emulator in this process: no key, no network. */
export async function offlineTransport(): Promise<Transport> {
  const { createEmulator } = await import("evaluator-emulator");
  const emulator = createEmulator();
  const gateway = gatewayTransport({
    apiKey: "offline",
    modelId: "typesafe-ai/jev",
    env: {},
    fetch: (input, init) => emulator.fetch(input, init),
  });
  // Its answers are never taken for those of the service.
  const target = { url: "local:emulator", modelId: "typesafe-ai/jev" };
  return { ...gateway, name: "emulator", target };
}
