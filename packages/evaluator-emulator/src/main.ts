import { createEmulator } from "./create-emulator.ts";
import { readArguments, usageText } from "./read-arguments.ts";

try {
  const { port, ...options } = readArguments(process.argv.slice(2));
  const emulator = createEmulator(options);
  const stop = () => void emulator.close();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const { gatewayBaseUrl, directBaseUrl } = await emulator.listen({ port });
  process.stdout.write(
    "The emulator listens; any key will do.\n" +
      `gateway  ${gatewayBaseUrl}\n` +
      `direct   ${directBaseUrl}\n`,
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : "It failed."}\n${usageText}\n`);
  process.exitCode = 1;
}
