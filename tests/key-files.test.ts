import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);

/** Returns the paths that git would leave out, were they here. */
function ignoredOf(paths: readonly string[]): string[] {
  const input = paths.join("\n");
  const { stdout } = spawnSync("git", ["check-ignore", "--no-index", "--stdin"], {
    cwd: root,
    input,
    encoding: "utf8",
  });
  return stdout.split("\n").filter((line) => line !== "");
}

test("files of keys and of settings stay out of version control, wherever they lie", () => {
  const names = ["gateway.key", "api.key", "my-api.key", "key.pem", "cert.p12", "cert.pfx"];
  const settings = [".env", ".env.local", ".env.production", "production.env", ".envrc"];
  const texts = [
    "router-keys.json",
    "router-keys.spend.sqlite-wal",
    "api-key",
    "gateway_api_key",
    "my-api-key.txt",
    "id_ed25519",
  ];
  const paths = [...names, ...settings, ...texts].flatMap((name) => [name, `apps/any/${name}`]);
  expect(ignoredOf(paths)).toEqual(paths);
});

test("what holds no key is not left out, and nothing that is kept is", () => {
  expect(ignoredOf([".env.example", ".npmrc", "apps/any/src/key.ts"])).toEqual([]);
  const kept = execFileSync("git", ["ls-files", "-ci", "--exclude-standard"], { cwd: root });
  expect(kept.toString()).toBe("");
});

test.each(globSync("{apps,packages}/*/*.dockerignore", { cwd: root }))(
  "%s keeps them out of the image",
  (path) => {
    const lines = readFileSync(join(root, path), "utf8").split("\n");
    const last = lines.findLastIndex((line) => line.startsWith("!"));
    expect(lines.slice(last + 1)).toEqual(
      expect.arrayContaining(["**/.env*", "**/*.env", "**/*.key", "**/*.pem", "**/*.p12"]),
    );
  },
);
