import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve, sep } from "node:path";
import process from "node:process";

// To import it, Node looks for the names that nine megabytes export.
const ts = createRequire(import.meta.url)("typescript-5");

// node check-types.mjs FOLDER PROGRAM, with TypeScript 5: prints each error in the strict PROGRAM and
// in the declarations of all that is installed, and each type of the package in FOLDER that the type of
// an export names, and that no entry exports.

const folder = resolve(process.argv[2] ?? ".");
const { exports } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
const entries = Object.values(exports).flatMap(({ types }) => (types ? [join(folder, types)] : []));
const options = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2024,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: false,
  skipDefaultLibCheck: true, // those of TypeScript itself
};
// An entry may need a package that not every user installs, so only PROGRAM is checked with its imports.
const errors = ts.getPreEmitDiagnostics(ts.createProgram([process.argv[3]], options));
const program = ts.createProgram(entries, options);
const checker = program.getTypeChecker();

function withoutAlias(symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

const exported = new Set(
  entries.flatMap((entry) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry));
    return checker.getExportsOfModule(module).map(withoutAlias);
  }),
);

/** Whether it is a type that a file of the package has at its top. */
function isOwnType(symbol) {
  const declarations = symbol.declarations ?? [];
  const types = ts.SymbolFlags.Type & ~ts.SymbolFlags.TypeParameter;
  return Boolean(symbol.flags & types) && declarations.some(isOwn);
}

function isOwn(declaration) {
  const { fileName } = declaration.getSourceFile();
  return (
    fileName.startsWith(`${folder}${sep}`) && !fileName.includes("node_modules", folder.length)
  );
}

function* typesNamedIn(node) {
  if (ts.isTypeReferenceNode(node)) yield checker.getSymbolAtLocation(node.typeName);
  if (ts.isExpressionWithTypeArguments(node)) yield checker.getSymbolAtLocation(node.expression);
  const children = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* typesNamedIn(child);
}

const missing = new Set();
for (const symbol of exported) {
  for (const declaration of (symbol.declarations ?? []).filter(isOwn)) {
    for (const named of typesNamedIn(declaration)) {
      const type = named === undefined ? undefined : withoutAlias(named);
      if (type === undefined || exported.has(type) || !isOwnType(type)) continue;
      missing.add(`${symbol.name} names ${type.name}`);
    }
  }
}
const format = { ...ts.sys, getCanonicalFileName: String, getNewLine: () => "\n" };
process.stdout.write(ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(errors), format));
process.stdout.write([...missing, `${exported.size} exports`].join("\n"));
