import { cp, mkdtemp, rm } from "node:fs/promises";
import { type Dirent, globSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import dockerignore from "@balena/dockerignore";
import { expect, onTestFinished, test } from "vitest";
import { argumentsOf, commandOf, emulatorCommand } from "./dockerfile.ts";
import { outputOf, runCommand, startUntil } from "./run-command.ts";

const root = dirname(import.meta.dirname);
const patiently = { timeout: 240_000 };

/** Copies the files that `COPY . .` copies into an image to a new folder, and runs its `RUN` there. */
async function buildImage(folder: string): Promise<string> {
  const image = await mkdtemp(join(tmpdir(), "evaluator-image-"));
  onTestFinished(() => rm(image, { recursive: true, force: true }));
  const ignored = readFileSync(join(root, folder, "Dockerfile.dockerignore"), "utf8");
  const exclude = ({ name }: Dirent) => name === "node_modules" || name === ".git";
  const files = globSync("**", { cwd: root, exclude, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  expect(argumentsOf(folder, "COPY")).toEqual([". ."]);
  for (const file of dockerignore.default().add(ignored.split("\n")).filter(files)) {
    await cp(join(root, file), join(image, file));
  }
  const [install = "false"] = argumentsOf(folder, "RUN");
  await outputOf(`${install} --prefer-offline --no-audit --no-fund`, { cwd: image });
  return image;
}

test("the router's image installs itself, starts, and is healthy", patiently, async () => {
  const image = await buildImage("apps/router");
  const command = commandOf("apps/router", "CMD");
  const env = { HOST: "127.0.0.1", PORT: "0", ROUTER_ACCESS_TOKEN: "only-for-this-test" };
  const [, port = ""] = await startUntil(command, /router is at http:\/\/127.0.0.1:(\d+)/, {
    cwd: image,
    env,
  });
  await outputOf(commandOf("apps/router", "HEALTHCHECK"), { cwd: image, env: { PORT: port } });
  const closed = { cwd: image, env: { PORT: "1" } };
  const sick = await runCommand(commandOf("apps/router", "HEALTHCHECK"), closed);
  expect(sick.exitCode).toBe(1);
});

test("the emulator's image installs itself and starts", patiently, async () => {
  const image = await buildImage("packages/evaluator-emulator");
  const printed = /(http:\/\/127\.0\.0\.1:\d+)/;
  const [, origin = ""] = await startUntil(emulatorCommand(), printed, { cwd: image });
  expect((await fetch(`${origin}/v1/models`)).status).toBe(200);
});
