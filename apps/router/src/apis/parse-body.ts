import type { z } from "zod";
import { HttpError } from "../http-error.ts";

/**
 * Reads a body by an API's schema. `unread` lists the paths of fields without a place in the schema.
 * With a list of needed fields, another wrong field is left out, and its error is `unsupported`.
 *
 * @throws HttpError (400) with the path of a wrong field.
 */
export function parseBody<TSchema extends z.ZodType>(
  schema: TSchema,
  body: unknown,
  needed?: readonly string[],
): ParsedBody<z.infer<TSchema>> {
  checkDepth(body);
  const { data, error } = schema.safeParse(body);
  if (error) {
    const { rest, unsupported } = leaveOut(body, error.issues, needed);
    return { ...parseBody(schema, rest), body: body as ParsedBody["body"], unsupported };
  }
  const unread = [...new Set(unreadFields(body, data))];
  const more = unread.length - MOST_NAMES;
  return {
    data,
    body: body as ParsedBody["body"],
    unread: more > 0 ? [...unread.slice(0, MOST_NAMES), `and-${more}-more`] : unread,
    unsupported: null,
  };
}

function leaveOut(body: unknown, issues: readonly z.core.$ZodIssue[], needed?: readonly string[]) {
  const isNeeded = (field?: PropertyKey) =>
    field === undefined || needed?.includes(String(field)) !== false;
  const fatal = issues.find(({ path: [field] }) => isNeeded(field));
  if (fatal !== undefined) throw invalidField(deepest(fatal));
  const wrong = new Set(issues.map(({ path: [field] }) => String(field)));
  const rest = Object.entries(body as object).filter(([field]) => !wrong.has(field));
  return { rest: Object.fromEntries(rest), unsupported: invalidField(deepest(issues[0])) };
}

/** A body in the form of a schema. */
interface ParsedBody<TData = unknown> {
  readonly data: TData;
  readonly body: Readonly<Record<string, unknown>>;
  readonly unread: readonly string[];
  readonly unsupported: HttpError | null;
}

/** A wrong field; the message names an alternative if there is one. */
type Issue = Pick<z.core.$ZodIssue, "path" | "message">;

/** Returns the error (400) of a wrong field. */
export function invalidField({ path, message }: Issue): HttpError {
  const field = path.map(nameOf).join(".") || "the body";
  return new HttpError(400, `This router cannot do this: ${field}: ${message}.`, { param: field });
}

/** `JSON.stringify` overflows the stack at a few thousand; a deep schema of a tool has about 30. */
const MAX_DEPTH = 200;

function checkDepth(value: unknown, path: readonly string[] = []): void {
  if (!isObject(value)) return;
  if (path.length > MAX_DEPTH) {
    const message = `nested more than ${MAX_DEPTH} levels deep; send less`;
    throw invalidField({ path: path.slice(0, 8), message });
  }
  for (const [key, inner] of Object.entries(value)) {
    if (isObject(inner)) checkDepth(inner, [...path, key]);
  }
}

/** The issue with the longest path in a union's branches, else the union's own. */
function deepest(issue: z.core.$ZodIssue | undefined): Issue {
  if (issue === undefined) return { path: [], message: "is not valid" };
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors.flatMap((branch) => branch.slice(0, 1)).map(deepest);
  const [best] = inner.toSorted((one, other) => other.path.length - one.path.length);
  if (best === undefined || best.path.length === 0) return issue;
  return { path: [...issue.path, ...best.path], message: best.message };
}

const MOST_NAMES = 20;

/** Yields the names of fields that were sent and not read, such as `messages.name`. */
function* unreadFields(sent: unknown, read: unknown, path = ""): Generator<string> {
  if (sent === read || !isObject(sent) || !isObject(read)) return;
  for (const [key, value] of Object.entries(sent)) {
    const name = nameOf(key);
    const inside = Array.isArray(sent) ? path : path === "" ? name : `${path}.${name}`;
    if (Object.hasOwn(read, key)) yield* unreadFields(value, read[key], inside);
    else if (!asksForNothing(value)) yield inside;
  }
}

/** Names are sent in headers. */
function nameOf(key: PropertyKey): string {
  return /^[\w.-]{1,64}$/.test(String(key)) ? String(key) : "unprintable";
}

/** Whether a value is null, false or empty. */
export function asksForNothing(value: unknown): boolean {
  return value === null || value === false || (isObject(value) && Object.keys(value).length === 0);
}

/** Whether a value is an object or a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Returns an object, empty if the value is none. */
export function toObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** Returns the fields without those that are null or undefined. */
export function givenOf<TFields extends object>(fields: TFields) {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given) as { [TKey in keyof TFields]?: NonNullable<TFields[TKey]> };
}
