import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { publishedPackages } from "../pack-client.ts";
import { outputOf } from "../run-command.ts";
import { startRegistry } from "./local-registry.ts";

const root = join(import.meta.dirname, "../..");

// The whole command in a clone; a registry of this machine takes the packages.
test("one command makes versions and changelogs, publishes, and collects what was published", async () => {
  const parent = await mkdtemp(join(tmpdir(), "release-command-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const cwd = join(parent, "clone");
  const registry = await startRegistry([]);
  onTestFinished(registry.close);
  const settings = join(parent, "npmrc");
  await writeFile(settings, `${registry.origin.replace("http:", "")}:_authToken=of-a-person\n`);
  const env = {
    PATH: `${root}/node_modules/.bin:${process.env["PATH"]}`,
    NPM_CONFIG_REGISTRY: registry.origin,
    NPM_CONFIG_USERCONFIG: settings,
    NPM_CONFIG_PREFER_OFFLINE: "true",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.com",
  };
  await outputOf(`git clone --quiet "${root}" "${cwd}" && cd "${cwd}" && npm ci`, {
    cwd: parent,
    env,
  });
  await outputOf("npm run release", { cwd, env });
  const files = join(cwd, "reports/release");
  const names = publishedPackages();
  expect((await readdir(files)).toSorted()).toEqual(
    [
      ...names.map((name) => `${name}-0.1.0.tgz`),
      "SHA256SUMS",
      "docs-0.1.0.tgz",
      "sbom.cdx.json",
    ].toSorted(),
  );
  await outputOf("sha256sum --check --quiet SHA256SUMS", { cwd: files });
  const sbom = JSON.parse(await readFile(join(files, "sbom.cdx.json"), "utf8")) as {
    readonly metadata: { readonly component: { readonly purl: string } };
    readonly components: readonly { readonly purl: string }[];
  };
  expect(sbom.metadata.component.purl).toBe("pkg:npm/evaluator@0.1.0");
  const listed = sbom.components.map(({ purl }) => purl);
  expect(listed).toEqual(expect.arrayContaining(names.map((name) => `pkg:npm/${name}@0.1.0`)));
  const tags = await outputOf("git tag --points-at HEAD", { cwd });
  expect(tags.trim().split("\n")).toEqual(names.map((name) => `${name}@0.1.0`).toSorted());
  expect(await outputOf("git status --porcelain", { cwd })).toBe("");
  expect(await readFile(join(cwd, "packages/evaluator-cli/CHANGELOG.md"), "utf8")).toContain(
    "The first release",
  );
}, 1_800_000);
