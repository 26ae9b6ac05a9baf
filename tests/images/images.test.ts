import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commandOf, emulatorCommand } from "../dockerfile.ts";
import { outputOf, startUntil } from "../run-command.ts";

const cwd = dirname(dirname(import.meta.dirname));

/** Builds the image of a folder as Docker does, and returns the command that runs a program in it. */
async function builtImage(folder: string): Promise<string> {
  const file = join(folder, "Dockerfile");
  const flags = "--isolation chroot --format docker --pull=never --quiet";
  const build = `buildah build ${flags} --ignorefile ${file}.dockerignore --file ${file} .`;
  const image = (await outputOf(build, { cwd })).trim().split("\n").at(-1);
  const container = (await outputOf(`buildah from --pull=never ${image}`, { cwd })).trim();
  onTestFinished(async () => {
    await outputOf(`buildah rm ${container} && buildah rmi ${image}`, { cwd });
  });
  return `exec buildah run --isolation chroot --env HOST=127.0.0.1 --env PORT=0 ${container} --`;
}

test("the image of the router starts as its user, and its health check holds", async () => {
  const run = await builtImage("apps/router");
  const command = `${run} ${commandOf("apps/router", "CMD")}`;
  const [, port = ""] = await startUntil(command, /router is at http:\/\/127.0.0.1:(\d+)/, { cwd });
  const check = `${run} env PORT=${port} ${commandOf("apps/router", "HEALTHCHECK")}`;
  await outputOf(check, { cwd });
  expect(await outputOf(`${run} id -un`, { cwd })).toBe("node\n");
});

test("the image of the emulator lists its models", async () => {
  const run = await builtImage("packages/evaluator-emulator");
  const printed = /(http:\/\/127\.0\.0\.1:\d+)/;
  const [, origin = ""] = await startUntil(`${run} ${emulatorCommand()}`, printed, { cwd });
  expect((await fetch(`${origin}/v1/models`)).status).toBe(200);
});
