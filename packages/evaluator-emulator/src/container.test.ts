import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "evaluator-kit";
import { createTestContext } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { emulatorCommand, type Settings } from "./arguments.ts";

const root = join(import.meta.dirname, "../../..");
const read = (name: string) =>
  readFileSync(join(root, "packages/evaluator-emulator", name), "utf8");

test("the container runs the pinned Node, without rights, and words that the emulator takes", async () => {
  const file = read("Dockerfile");
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  expect(file).toContain(`FROM node:${devDependencies["node"]}-slim\n`);
  expect(file).toContain("\nUSER node\n");
  const [, words = "[]"] = /^ENTRYPOINT (.*)$/m.exec(file) ?? [];
  const [program, main, ...typed] = JSON.parse(words) as string[];
  expect([program, main]).toEqual(["node", "packages/evaluator-emulator/src/main.ts"]);
  const context = createTestContext();
  const started: Settings[] = [];
  const start = async (settings: Settings) => void started.push(settings);
  await runCommand(emulatorCommand("evaluator-emulator", { context, start }), typed, context);
  expect(started).toMatchObject([{ host: "0.0.0.0", port: 8787, allowedHosts: ["emulator"] }]);
});

test("every workspace's package.json goes into the image, and every workspace that it imports", () => {
  const [first, ...named] = read("Dockerfile.dockerignore").split("\n");
  expect(first).toBe("**");
  for (const line of [
    "apps/*/package.json",
    "packages/*/package.json",
    "fixtures",
    "packages/kit",
  ]) {
    expect(named).toContain(`!${line}`);
  }
});
