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
    if (name === "check:types") {
      expect(own[name]).toBe(command); // each workspace checks its own
      continue;
    }
    const fromHere = command
      .replace("--env-file-if-exists=", `$&${up}/`)
      .replace(/ (?=(apps|packages|fixtures)\/)/, ` ${up}/`);
    const isProgram = command.startsWith("node ");
    const run = name === "test" ? "test" : `run ${name}`;
    expect(own).toHaveProperty([name], isProgram ? fromHere : `npm --prefix ${up} ${run} --`);
  }
});
