import { globSync, readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CalibrationArtifact, questionHash } from "evaluator-calibration";
import { boolean } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { nodeVersions } from "../install-nodes.ts";
import { folderOf, publishedPackages } from "../pack-client.ts";
import { outputOf, readCodeBlocks, runCommand } from "../run-command.ts";

const root = join(import.meta.dirname, "../..");
const project = inject("project");
const postgresUrl = inject("postgresUrl");
const guides = globSync("docs/*.md", { cwd: root });
const readmes = [
  "README.md",
  ...publishedPackages().map((name) => `${folderOf(name)}/README.md`),
  ...guides,
];

/** One block of code of a README, as a file of the empty project. */
interface Snippet {
  readonly file: string;
  readonly needsPostgres: boolean;
  readonly text: string;
}

const exported = /export (?:const|async function\*?) (?:\{ )?(\w+)/g;
const given = Array.from(
  readFileSync(join(import.meta.dirname, "given.ts"), "utf8").matchAll(exported),
  ([, name = ""]) => name,
);

const exampleDatabase = /postgres:\/\/\w+:secret@db\.example\.com\/evaluator/g;

const snippets: readonly Snippet[] = readmes.flatMap((readme) =>
  readCodeBlocks(readme, "ts").map((code, index) => {
    const name = readme
      .replaceAll(/(?:packages|apps)\/|\/?README\.md|\.md$/g, "")
      .replace("/", "-");
    return {
      file: `${name || "repository"}-${index + 1}.ts`,
      needsPostgres: code.includes("evaluator-runs/postgres"),
      text: withGiven(code).replaceAll(exampleDatabase, postgresUrl ?? "postgres://127.0.0.1:1"),
    };
  }),
);

/** The snippet, and before it an import of what it takes for given. */
function withGiven(code: string): string {
  const names = given.filter(
    (name) =>
      new RegExp(`(?<![.\\w])${name}\\b(?!:)`).test(code) &&
      !new RegExp(`(?:const|using|let|function\\*?) ${name}\\b`).test(code),
  );
  return names.length === 0 ? code : `import { ${names.join(", ")} } from "./given.ts";\n${code}`;
}

/** Made up, for the question of docs/calibration.md and the emulator's model. */
const artifact: CalibrationArtifact = {
  version: 2,
  model: { id: "local/lexical-1", wire: null },
  questionHash: questionHash({ refund: boolean("Is a refund due?") }),
  rounding: { probabilityDecimals: 2 },
  kind: "none",
  parameters: {},
  fittedOn: { n: 92, from: null, to: null, hash: "made-up" },
  heldOut: null,
  thresholds: [],
};

beforeAll(async () => {
  await copyFile(join(import.meta.dirname, "given.ts"), join(project, "given.ts"));
  for (const { file, text } of snippets) await writeFile(join(project, file), text);
  await copyFile(join(root, "docs/router.png"), join(project, "parcel.png"));
  await mkdir(join(project, "calibration"), { recursive: true });
  await writeFile(join(project, "calibration/calibration.json"), JSON.stringify(artifact));
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noImplicitOverride: true,
    skipLibCheck: false,
    module: "nodenext",
    // Node 22 knows no `await using`, so the compiler translates it.
    target: "es2023",
    lib: ["es2024", "esnext.disposable"],
    types: ["node"],
    rewriteRelativeImportExtensions: true,
  };
  const files = snippets.map(({ file }) => file);
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
});

test("each published package that is imported shows how", () => {
  const shown = new Set(snippets.map(({ file }) => file.replace(/-\d+\.ts$/, "")));
  const programs = new Set(["evaluator-cli", "evaluator-router", "evaluator-triage"]);
  expect(publishedPackages().filter((name) => !shown.has(name) && !programs.has(name))).toEqual([]);
});

test.each(["typescript-5", "typescript-7"])("all compile under strict %s", async (compiler) => {
  expect(await compile(compiler)).toEqual([]);
});

const compiled = new Map<string, Promise<string[]>>();

/** Compiles the snippets once into a folder of the compiler's name; returns the errors that are not of others' declarations. */
function compile(compiler: string): Promise<string[]> {
  const errors = compiled.get(compiler) ?? compileNow(compiler);
  compiled.set(compiler, errors);
  return errors;
}

async function compileNow(compiler: string): Promise<string[]> {
  const command = `node node_modules/${compiler}/bin/tsc -p . --pretty false --outDir ${compiler}`;
  const { exitCode, stdout, stderr } = await runCommand(command, { cwd: project });
  const errors = stdout.split("\n").filter((line) => /^\S.*\berror TS/.test(line));
  if (errors.length === 0 && exitCode !== 0) throw new Error(`${compiler} failed: ${stderr}`);
  return errors.filter((line) => !/^node_modules\/(?!evaluator-)/.test(line));
}

test("those of private workspaces compile against the sources", async () => {
  const all = globSync("{packages/*,apps/*,examples/*,examples,fixtures}/README.md", { cwd: root });
  const others = all.filter((readme) => !readmes.includes(readme));
  const codes = others.flatMap((readme) => readCodeBlocks(readme, "ts"));
  expect(codes.length).toBeGreaterThan(1);
  const folder = await mkdtemp(join(root, "node_modules/.cache/snippets-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [index, code] of codes.entries()) await writeFile(join(folder, `${index}.ts`), code);
  const config = { extends: "../../../tsconfig.base.json", include: ["*.ts"] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  await outputOf(`npx tsc -p ${folder}`, { cwd: root });
});

test.each(inject("nodes"))("all run on Node %s", async (_version, node) => {
  await compile("typescript-5");
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl, directBaseUrl } = await emulator.listen();
  const env = {
    AI_GATEWAY_API_KEY: "local",
    EVALUATOR_BASE_URL: gatewayBaseUrl,
    EVALUATOR_DIRECT_API_KEY: "local",
    // Of evaluators that are not asked: the emulator's answers are sure.
    OPENAI_API_KEY: "local",
    OPENROUTER_API_KEY: "local",
    EVALUATOR_DIRECT_BASE_URL: directBaseUrl,
    SNIPPET_DATABASE_URL: postgresUrl ?? "",
  };
  for (const { file, needsPostgres } of snippets) {
    if (needsPostgres && postgresUrl === null) continue;
    const command = `${node} typescript-5/${file.replace(/ts$/, "js")}`;
    await expect(outputOf(command, { cwd: project, env })).resolves.toEqual(expect.any(String));
  }
});

test("the oldest promised Node is the one that the manifests name", async () => {
  for (const name of publishedPackages()) {
    const manifest = await import(join(root, folderOf(name), "package.json"), {
      with: { type: "json" },
    });
    const { engines } = (manifest as { default: { engines: { node: string } } }).default;
    expect(`${engines.node.replace(">=", "")}.0`).toBe(nodeVersions.promised[0]);
  }
});
