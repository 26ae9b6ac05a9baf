import { execFile } from "node:child_process";
import { mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createEmulator } from "evaluator-emulator";
import { expect, inject, test } from "vitest";

// jevcompat's suite: 48 requirements for a server that speaks the vendor's API, 32 of them MUST.

interface Report {
  readonly results: readonly {
    readonly id: string;
    readonly level: string;
    readonly status: string;
  }[];
}

/** Each SHOULD that the emulator does not meet, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  "auth.invalid": "the vendor's body of a 401 is a text",
  "auth.missing": "the vendor's body of a 403 is a text",
  "confidence.formula": "the vendor does not publish its formula",
  "errors.shape": "the vendor's body of a 404 is a text",
  "http.models": "the address is also that of the gateway's and OpenAI's lists",
  "request.unknown-fields": "the vendor answers 400",
};

const installed = inject("clients");

test.runIf("bin" in installed)("the emulator meets every applicable MUST", async () => {
  const bin = "bin" in installed ? installed.bin : "";
  await using folder = await mkdtempDisposable(join(tmpdir(), "jevcompat-"));
  const path = join(folder.path, "report.json");
  const emulator = createEmulator({ keys: ["right-key"] });
  const { origin } = await emulator.listen();
  try {
    const words = ["test", origin, "--key", "right-key", "--json", path];
    await promisify(execFile)(join(bin, "jevcompat"), words, { env: { PATH: bin } });
  } finally {
    await emulator.close();
  }
  const { results } = JSON.parse(await readFile(path, "utf8")) as Report;
  const passed = results.filter(({ level, status }) => level === "MUST" && status === "pass");
  expect(passed).toHaveLength(32);
  const failed = results.filter(({ status }) => status === "fail").map(({ id }) => id);
  expect(failed.toSorted()).toEqual(Object.keys(exceptions));
});
