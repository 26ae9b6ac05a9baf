import { globSync, readFileSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env } from "node:process";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, inject, onTestFinished, test } from "vitest";
import { packagesNamedIn } from "../../scripts/packed-package.ts";
import { folderOf, publishedPackages } from "../pack-client.ts";
import { outputOf, runCommand } from "../run-command.ts";

const root = join(import.meta.dirname, "../..");
// Where publint, attw and changesets are installed.
const tools = import.meta.dirname;
const project = inject("project");
const tarballs = inject("tarballs");
const published = publishedPackages();

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly repository?: { readonly url: string };
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly publishConfig?: { readonly dependencies?: Readonly<Record<string, string>> };
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

test("attw finds nothing wrong with what is imported", async () => {
  const programs = /evaluator-(cli|router|triage)-/;
  const printed: string[] = [];
  for (const tarball of tarballs.filter((path) => !programs.test(path))) {
    const attw = `npx attw ${tarball} --profile esm-only --format ascii`;
    const result = await runCommand(attw, { cwd: tools });
    expect(result).toMatchObject({ exitCode: 0 });
    printed.push(result.stdout);
  }
  expect(printed.join("")).toContain("evaluator-client/testing");
});

const strictProgram = `
import { boolean, choice, createEvaluator, memoryLimits, score, sharedPacer } from "evaluator-client";
import { replay } from "evaluator-client/testing";

await using pacer = sharedPacer({ store: memoryLimits(), key: "a", limits: { requestsPerMinute: 1200 } });
await using evaluator = createEvaluator({ pacer });
const questions = { who: choice("Who?", { a: "A", b: "B" }), how: score("How?", ["low", "high"]), is: boolean("Is it?") };
const { answers } = await evaluator.evaluate({ state: "text", questions });
await using replayed = createEvaluator({ transport: replay("exchanges", { redact: (text) => text }) });
export const option: "a" | "b" = answers.who.choice;
export const level: number = answers.how.probabilities["1"];
for await (const item of evaluator.evaluateMany([{ state: { a: 1 }, questions }])) {
  if (item.status === "succeeded") item.evaluation.answers.is.probability.toFixed(2);
}
`;

test("a strict project of TypeScript 5.9 compiles with the declarations of all it installs, and every type that an exported type names is itself exported", async () => {
  await writeFile(join(project, "strict.ts"), strictProgram);
  await cp(join(tools, "check-types.mjs"), join(project, "check-types.mjs"));
  const command = "node check-types.mjs node_modules/evaluator-client strict.ts";
  const result = await runCommand(command, { cwd: project });
  expect(result).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^\d{2,} exports$/),
  });
});

const kilobyte = 1024;
const client = join(project, "node_modules/evaluator-client/default/index.js");
const builders = ["boolean", "choice", "score"];

test.each<[string, { names?: readonly string[]; most: number }]>([
  ["the whole client", { most: 60 * kilobyte }],
  ["the builders of questions", { names: builders, most: 1.5 * kilobyte }],
])("%s is small in a browser", async (what, { names, most }) => {
  const gzippedBytes = await bundledBytes(client, names);
  expect(gzippedBytes, `the bytes, gzip, of ${what}`).toBeLessThanOrEqual(most);
  expect(gzippedBytes).toBeGreaterThan(100);
});

/** The size of what a browser's program loads that imports these names of a file, or all of them. */
async function bundledBytes(path: string, names?: readonly string[]): Promise<number> {
  const taken = names === undefined ? "*" : `{ ${names.join(", ")} }`;
  const contents = `export ${taken} from ${JSON.stringify(path)};`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: dirname(path) },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "silent",
  });
  return gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length;
}

test.each(published)("%s holds its licences and its sources, to which all maps lead", (name) => {
  const folder = join(project, "node_modules", name);
  expect(readManifest(folder).license).toBe("MIT");
  expect(readFileSync(join(folder, "LICENSE"), "utf8")).toContain("MIT License");
  const files = globSync("**/*.*", { cwd: folder });
  expect(files.filter((file) => /\.test[.-]|(^|\/)testing\//.test(file))).toEqual([]);
  // The build writes the file that checks the version of Node; it has no source.
  const code = files.filter((file) => /\.js$|\.d\.ts$/.test(file) && !isWithoutMap(file));
  expect(code.length).toBeGreaterThan(2);
  for (const file of code) expect(readFileSync(join(folder, file), "utf8")).toContain(`.map`);
  const lost = code.flatMap((file) => {
    const map = readFileSync(join(folder, `${file}.map`), "utf8");
    const { sources, sourcesContent } = JSON.parse(map) as Record<string, string[] | undefined>;
    expect(sourcesContent).toBeUndefined();
    const paths = sources?.map((source) => join(dirname(file), source)) ?? [];
    return paths.filter((path) => !/src\/|^LICENSES\.txt$/.test(path) || !files.includes(path));
  });
  expect(lost).toEqual([]);
});

/** Whether it is written by the build, or bundled for a page. */
function isWithoutMap(file: string): boolean {
  return file === "bin.js" || /^(private\/[^/]+\/)?(src|scripts)\//.test(file);
}

// Each command of a program is a file besides, and so is the code that some of them share.
test.each(["evaluator-calibration", "evaluator-client", "evaluator-emulator"])(
  "%s has few files",
  (name) => {
    const folder = join(project, "node_modules", name);
    const { exports, bin = {} } = readManifest(folder);
    const entries = Object.keys({ ...exports, ...bin }).filter((key) => key !== "./package.json");
    const code = globSync(["*.js", "default/*.js"], { cwd: folder });
    expect(code.length).toBeLessThanOrEqual(3 * entries.length + 8);
  },
);

test.each(published)("%s depends on nothing that it does not import", (name) => {
  const folder = join(project, "node_modules", name);
  const dependencies = Object.keys(readManifest(folder).dependencies ?? {});
  // Which of these an offline run loads is another package's.
  const libraries = dependencies.filter((dependency) => !dependency.startsWith("evaluator-"));
  expect(packagesNamedIn(folder, libraries)).toEqual(libraries);
});

// Those that a program of any licence may be built on; of two to choose from, one is enough.
const allowedLicences =
  /^\(?(.+ OR )?(MIT(-0)?|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0)( OR .*)?\)?$/;

test("all that is installed with them may be used as freely", () => {
  const installed = inject("installed");
  expect(installed.length).toBeGreaterThan(published.length);
  const others = installed.filter(({ license }) => !allowedLicences.test(license));
  expect(others, "what is installed with other licences than the allowed ones").toEqual([]);
});

test.each(published)("%s has the licence of each library whose code it contains", async (name) => {
  const folder = join(project, "node_modules", name);
  const names = new Set(await scriptLibraries(name));
  for (const file of globSync("{,default/}*.js", { cwd: folder })) {
    const code = readFileSync(join(folder, file), "utf8");
    for (const [, library = ""] of code.matchAll(
      /^ *\/\/ .*node_modules\/((?:@[^/]+\/)?[^/]+)\//gm,
    ))
      names.add(library);
  }
  const text = readFileSync(join(folder, "LICENSES.txt"), "utf8");
  // A licence may have such a line too.
  const sections = text.split(/^-{80}\n\n(?=\S+ \d\S* \(.+\)\n)/m);
  const titles = sections.map((section) => /^(\S+) \d\S* \((.+)\)\n\n[^]{50}/.exec(section) ?? []);
  expect(titles.map(([, library]) => library)).toEqual(expect.arrayContaining([...names]));
  const others = titles.filter(([, , licence = ""]) => !allowedLicences.test(licence));
  expect(others, "libraries with other licences than the allowed ones").toEqual([]);
});

/** Returns the libraries in the scripts of a package's pages; the scripts have no comments. */
async function scriptLibraries(name: string): Promise<string[]> {
  const scripts = globSync("scripts/**/*.js", { cwd: join(project, "node_modules", name) });
  const entries = scripts.map((file) => {
    const source = file.replace(/^scripts/, "src").replace(/js$/, "ts");
    return join(root, folderOf(name), source);
  });
  const options = { bundle: true, minify: true, metafile: true, write: false } as const;
  const { metafile } = await build({ entryPoints: entries, outdir: "scripts", ...options });
  return Object.keys(metafile.inputs).flatMap(
    (file) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
  );
}

test("what is released comes from a repository that has a name, and from no waiting change", () => {
  const { access } = JSON.parse(readFileSync(join(root, ".changeset/config.json"), "utf8")) as {
    access: string;
  };
  expect(access).toBe("public");
  // Until the root's package.json names one, a placeholder stands there; the release's workflow asks.
  const asked = env["RELEASING"] === "1" ? published : [];
  const unnamed = asked.filter((name) => {
    const { repository } = readManifest(join(project, "node_modules", name));
    return !/^git\+https:\/\/github\.com\/.+\.git$/.test(repository?.url ?? "");
  });
  expect(unnamed).toEqual([]);
  expect(asked.filter((name) => !agrees(root, name))).toEqual([]);
  expect(asked.length > 0 ? globSync(waitingChanges, { cwd: root }) : []).toEqual([]);
});

const waitingChanges = ".changeset/*.md";

test("changelogs and versions agree, after the changes that wait for a release too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "release-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = globSync(
    [
      ".changeset/*",
      "package.json",
      "package-lock.json",
      "{packages,apps}/*/{package.json,CHANGELOG.md}",
      "fixtures/package.json",
    ],
    { cwd: root },
  );
  for (const file of files) await cp(join(root, file), join(folder, file));
  expect(staleDependencies(folder)).toEqual([]);
  const before = published.filter((name) => !agrees(folder, name));
  const author = "-c user.name=release -c user.email=release@example.com";
  const commit = `git init -q && git add -A && git ${author} commit -qm before`;
  await outputOf(commit, { cwd: folder });
  const waiting = globSync(waitingChanges, { cwd: folder });
  const version = `node ${tools}/node_modules/.bin/changeset version`;
  if (waiting.length > 0) await outputOf(version, { cwd: folder });
  expect(published.filter((name) => !agrees(folder, name))).toEqual([]);
  // What has no changelog yet was never released, and comes out as the first version.
  for (const name of before) {
    expect(
      globSync(`${folderOf(name)}/CHANGELOG.md`, { cwd: root }),
      `a changelog that begins with another version than its package, ${name}`,
    ).toEqual([]);
    const changelog = readFileSync(join(folder, folderOf(name), "CHANGELOG.md"), "utf8");
    expect(changelog).toMatch(/^# \S+\n\n## 0\.1\.0\n[^]*: The first release/);
  }
  expect(staleDependencies(folder)).toEqual([]);
});

/** Returns whether the first entry of a package's changelog is of its version. */
function agrees(folder: string, name: string): boolean {
  const path = join(folder, folderOf(name));
  const [changelog = ""] = globSync("CHANGELOG.md", { cwd: path });
  if (changelog === "") return false;
  const [, latest] = /^## (\S+)$/m.exec(readFileSync(join(path, changelog), "utf8")) ?? [];
  return latest === readManifest(path).version;
}

/** Returns the dependencies on workspaces that name another version than the workspace has. */
function staleDependencies(folder: string): string[] {
  const files = globSync(
    ["package.json", "package-lock.json", "*/*/package.json", "fixtures/package.json"],
    {
      cwd: folder,
    },
  );
  const manifests = files.map((file) => readManifest(join(folder, dirname(file))));
  const versions = new Map(manifests.map(({ name, version }) => [name, version]));
  return manifests.flatMap(({ name, dependencies, devDependencies, publishConfig }) =>
    [dependencies, devDependencies, publishConfig?.dependencies]
      .flatMap((some) => Object.entries(some ?? {}))
      .filter(([other, version]) => versions.has(other) && versions.get(other) !== version)
      .map(([other, version]) => `${name} names ${other} ${version}`),
  );
}
