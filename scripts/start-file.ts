import type { Manifest } from "./private-packages.ts";

/**
 * Returns the file that npm starts as a program of a package: it has no import, which an old Node would
 * load before the check, and fail with a stack.
 *
 * @param program - The file of the program itself, beside it.
 */
export function startFile(program: string, { name, engines }: Manifest): string {
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines?.node ?? "") ?? [];
  if (minor === undefined) throw new Error(`${name} has no engines.node such as ">=22.19".`);
  return `#!/usr/bin/env node
const { node, bun, deno } = process.versions;
const [major, minor] = node.split(".").map(Number);
if (bun || deno || major > ${major} || (major === ${major} && minor >= ${minor})) {
  await import("./${program}");
} else {
  console.error("${name} needs Node ${major}.${minor} or later, and this is Node " + node + ".");
  process.exitCode = 1;
}
`;
}
