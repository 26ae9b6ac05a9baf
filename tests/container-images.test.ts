import { cp, mkdtemp, rm } from "node:fs/promises";
import { type Dirent, globSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import dockerignore from "@balena/dockerignore";
import { DockerfileParser } from "dockerfile-ast";
import { expect, onTestFinished, test } from "vitest";
import { outputOf, runCommand, startUntil } from "./run-command.ts";

const root = dirname(import.meta.dirname);
const patiently = { timeout: 240_000 };

/** Returns the arguments of an image's instructions with one keyword, without flags such as `--mount`. */
function argumentsOf(folder: string, keyword: string): string[] {
  const file = DockerfileParser.parse(readFileSync(join(root, folder, "Dockerfile"), "utf8"));
  return file
    .getInstructions()
    .filter((instruction) => instruction.getKeyword() === keyword)
    .map((instruction) => (instruction.getArgumentsContent() ?? "").replace(/^(?:--\S+ )+/, ""));
}

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

/** Returns the shell command of an instruction in its JSON form. */
function commandOf(folder: string, keyword: string): string {
  const [words = ""] = argumentsOf(folder, keyword);
  const parts = JSON.parse(words.slice(words.indexOf("["))) as string[];
  return parts.map((part) => JSON.stringify(part)).join(" ");
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
  const folder = "packages/evaluator-emulator";
  const image = await buildImage(folder);
  const command = commandOf(folder, "ENTRYPOINT")
    .replace('"0.0.0.0"', "127.0.0.1")
    .replace('"8787"', "0");
  const [, origin = ""] = await startUntil(command, /(http:\/\/127\.0\.0\.1:\d+)/, { cwd: image });
  expect((await fetch(`${origin}/v1/models`)).status).toBe(200);
});
