import { globSync, readFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { expect, test } from "vitest";

type Scripts = Record<string, string>;

const root = dirname(import.meta.dirname);
const rootScripts = scriptsOf("package.json");
const workspaces = globSync(["{packages,apps}/*/package.json", "fixtures/package.json"], {
  cwd: root,
});

function scriptsOf(file: string): Scripts {
  const manifest: { scripts: Scripts } = JSON.parse(readFileSync(`${root}/${file}`, "utf8"));
  return manifest.scripts;
}

// npm takes the nearest package.json, so a person standing in a workspace needs the scripts there.
test.each(workspaces)("%s offers every root script", (file) => {
  const up = relative(dirname(file), ".");
  const own = scriptsOf(file);
  for (const [name, command] of Object.entries(rootScripts)) {
    expect(own).toHaveProperty([name], scriptFrom(up, { name, command }));
  }
});

/** A root script as it reads in a folder from which the root is `up`. */
function scriptFrom(up: string, { name, command }: { name: string; command: string }): string {
  if (name === "check:types") return command; // each workspace checks its own
  const isProgram = command.startsWith("node ");
  if (!isProgram) return `npm --prefix ${up} ${name === "test" ? "test" : `run ${name}`} --`;
  return command
    .replace("--env-file-if-exists=", `$&${up}/`)
    .replace(/ (?=(apps|packages|fixtures)\/)/, ` ${up}/`);
}
