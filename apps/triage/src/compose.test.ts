import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../../..");

interface Service {
  readonly image: string;
  readonly command?: readonly unknown[];
  readonly healthcheck?: { readonly test: readonly unknown[] };
  readonly depends_on?: Readonly<Record<string, unknown>>;
}

test("compose starts programs of the repository, by words that YAML reads as words", () => {
  const file = readFileSync(join(root, "apps/triage/compose.yaml"), "utf8");
  const { services } = parse(file, { merge: true }) as { services: Record<string, Service> };
  expect(Object.keys(services)).toEqual(["postgres", "emulator", "worker-1", "worker-2", "run"]);
  for (const { command = [], healthcheck, depends_on = {} } of Object.values(services)) {
    const words = [...command, ...(healthcheck?.test ?? [])];
    // A colon and a space outside quotes make a mapping of a word.
    expect(words.filter((word) => typeof word !== "string")).toEqual([]);
    const programs = words.filter((word) => /^[\w/-]+\.ts$/.test(String(word)));
    for (const program of programs) expect(existsSync(join(root, String(program)))).toBe(true);
    for (const name of Object.keys(depends_on)) expect(services[name]?.healthcheck).toBeDefined();
  }
});
