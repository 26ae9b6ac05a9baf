import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";

/** What an entry of a package exports: a name, what is written over it, and its declarations. */
export interface ExportedDeclaration {
  readonly name: string;
  readonly kind: "function" | "class" | "interface" | "type" | "constant";
  /** The text of the doc comment, without its stars; empty where there is none. */
  readonly doc: string;
  /** The declarations as they stand in the `.d.ts`; several where a function is overloaded. */
  readonly texts: readonly string[];
}

const kinds: Readonly<Record<string, ExportedDeclaration["kind"]>> = {
  TSDeclareFunction: "function",
  FunctionDeclaration: "function",
  ClassDeclaration: "class",
  TSInterfaceDeclaration: "interface",
  TSTypeAliasDeclaration: "type",
  VariableDeclaration: "constant",
};

type Statement = ReturnType<typeof parseSync>["program"]["body"][number];
/** What may stand after `export`. */
type Declaration = NonNullable<
  Extract<Statement, { type: "ExportNamedDeclaration" }>["declaration"]
>;

/** A `.d.ts`, parsed. */
interface DeclarationFile {
  readonly path: string;
  readonly text: string;
  readonly body: readonly Statement[];
  readonly comments: readonly {
    readonly value: string;
    readonly start: number;
    readonly end: number;
  }[];
}

const files = new Map<string, DeclarationFile>();

function readDeclarations(path: string): DeclarationFile {
  const known = files.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, "utf8");
  const { program, comments, errors } = parseSync(path, text, { lang: "dts" });
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const file = { path, text, body: program.body, comments };
  files.set(path, file);
  return file;
}

/** Returns what a `.d.ts` exports, in its order, each followed to where it is declared. */
export function exportedDeclarations(path: string): ExportedDeclaration[] {
  const file = readDeclarations(path);
  const found = file.body.flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration") return [];
    if (statement.declaration !== null) return namesOf(statement.declaration);
    return statement.specifiers.map(({ exported }) => nameOf(exported));
  });
  return [...new Set(found)].map((name) => findExport(file, name));
}

function findExport(file: DeclarationFile, name: string): ExportedDeclaration {
  for (const statement of file.body) {
    if (statement.type !== "ExportNamedDeclaration" || statement.source === null) continue;
    const specifier = statement.specifiers.find(({ exported }) => nameOf(exported) === name);
    if (specifier === undefined) continue;
    const next = resolveDeclarations(file.path, statement.source.value);
    return { ...findExport(readDeclarations(next), nameOf(specifier.local)), name };
  }
  return declared(file, name);
}

function declared(file: DeclarationFile, name: string): ExportedDeclaration {
  const declarations = file.body.flatMap((statement) => {
    const isExport = statement.type === "ExportNamedDeclaration" && statement.declaration !== null;
    const declaration = (isExport ? statement.declaration : statement) as Declaration;
    const isIt = declaration.type in kinds && namesOf(declaration).includes(name);
    return isIt ? [{ declaration, start: statement.start }] : [];
  });
  const [first] = declarations;
  if (first === undefined) throw new Error(`${file.path} declares no ${name}`);
  return {
    name,
    kind: kinds[first.declaration.type] as ExportedDeclaration["kind"],
    doc: docBefore(file, first.start),
    texts: declarations.map(({ declaration }) => textOf(file, declaration)),
  };
}

function namesOf(declaration: Declaration): string[] {
  if (declaration.type === "VariableDeclaration") {
    return declaration.declarations.map(({ id }) => (id.type === "Identifier" ? id.name : ""));
  }
  const { id } = declaration as { id: { name?: string } | null };
  return [id?.name ?? ""];
}

function nameOf(node: { type: string }): string {
  const { name, value = "" } = node as { name?: string; value?: string };
  return name ?? value;
}

function textOf({ text }: DeclarationFile, { start, end }: Declaration): string {
  return text
    .slice(start, end)
    .replace(/^declare /, "")
    .replace(/^ +#private;\n/gm, "")
    .replace(/^( +)/gm, (indent) => indent.slice(indent.length / 2));
}

/** The doc comment that ends right before a statement. */
function docBefore({ text, comments }: DeclarationFile, start: number): string {
  const comment = comments.findLast(
    ({ end, value }) =>
      end <= start && value.startsWith("*") && text.slice(end, start).trim() === "",
  );
  return (comment?.value ?? "")
    .slice(1)
    .replace(/^ *\* ?/gm, "")
    .trim();
}

/** The `.d.ts` that a specifier in another stands for. */
function resolveDeclarations(from: string, specifier: string): string {
  return join(dirname(from), specifier.replace(/\.[jt]s$/, ".d.ts"));
}
