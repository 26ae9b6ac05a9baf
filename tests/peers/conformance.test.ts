import { execFile } from "node:child_process";
import { mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createEmulator } from "evaluator-emulator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installEnvironment } from "./environments.ts";
import { startRouter } from "./servers.ts";

// jevcompat's suite: 48 requirements for a server that speaks the vendor's API, 32 of them MUST.

interface Report {
  readonly results: readonly {
    readonly id: string;
    readonly level: string;
    readonly status: string;
  }[];
}

/** Each SHOULD that the emulator does not meet, with the reason. */
const atEmulator: Readonly<Record<string, string>> = {
  "auth.invalid": "the vendor's body of a 401 is a text",
  "auth.missing": "the vendor's body of a 403 is a text",
  "confidence.formula": "the vendor does not publish its formula",
  "errors.shape": "the vendor's body of a 404 is a text",
  "http.models": "the address is also that of the gateway's and OpenAI's lists",
  "request.unknown-fields": "the vendor answers 400",
};
/** Those that the router does not meet. */
const atRouter: Readonly<Record<string, string>> = {
  "confidence.formula": "the confidence is the service's own",
  "errors.validation-shape": "a body that is not JSON has no field to name",
};

const installed = await installEnvironment("clients");
const bin = "bin" in installed ? installed.bin : "";

async function reportOf(origin: string, key: string) {
  await using folder = await mkdtempDisposable(join(tmpdir(), "jevcompat-"));
  const path = join(folder.path, "report.json");
  const words = ["test", origin, "--key", key, "--json", path];
  await promisify(execFile)(join(bin, "jevcompat"), words, { env: { PATH: bin } });
  const { results } = JSON.parse(await readFile(path, "utf8")) as Report;
  return {
    passed: results.filter(({ level, status }) => level === "MUST" && status === "pass").length,
    failed: results.flatMap(({ id, status }) => (status === "fail" ? [id] : [])).toSorted(),
  };
}

describe.runIf("bin" in installed)("every applicable MUST is met", () => {
  const emulator = createEmulator({ keys: ["right-key"] });
  let origin = "";
  beforeAll(async () => void ({ origin } = await emulator.listen()));
  afterAll(() => emulator.close());

  test("by the emulator", async () => {
    expect(await reportOf(origin, "right-key")).toEqual({
      passed: 32,
      failed: Object.keys(atEmulator),
    });
  });

  test("by the router in front of it", async () => {
    const token = "the-key-of-the-team";
    await using router = await startRouter(origin, token);
    expect(await reportOf(router.origin, token)).toEqual({
      passed: 32,
      failed: Object.keys(atRouter),
    });
  });
});
