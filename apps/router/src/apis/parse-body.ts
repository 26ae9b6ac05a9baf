import { isRecord, parseJson } from "evaluator-kit";
import type { z } from "zod";
import { HttpError } from "../http-error.ts";
import { deepPath, TOO_DEEP } from "../routes/json-depth.ts";
import type { ApiRequest } from "./api.ts";
import type { PassedIssue } from "./request-fields.ts";

interface ParsedBody<TData> extends Pick<
  ApiRequest,
  "body" | "allowed" | "unread" | "unsupported" | "isLocal"
> {
  readonly data: TData;
}

/**
 * Reads a body by an API's schema. Parts that another server of the API may know are left out: list elements
 * with an unknown `type` or content, and wrong fields that are not in `neededNames`. @throws HttpError (400) with a path.
 */
export function parseBody<TSchema extends z.ZodType>(
  schema: TSchema,
  givenValue: unknown,
  neededNames?: readonly string[],
): ParsedBody<z.infer<TSchema>> {
  const tooDeepPath = deepPath(givenValue);
  if (tooDeepPath !== null) throw invalidField({ path: [...tooDeepPath], message: TOO_DEEP });
  const body = givenValue as Readonly<Record<string, unknown>>;
  const { data, error } = schema.safeParse(body);
  if (!error) {
    const unread = listNames(unreadFields(body, data));
    const allowed = () => toAllowedBody(body, data);
    return { data, body, allowed, unread, unsupported: null, isLocal: false };
  }
  const leafIssues = error.issues.flatMap(listLeaves);
  const leftOutPaths = leafIssues.map((leafIssue) => placeToLeaveOut(leafIssue, body, neededNames));
  const [unsupportedError = null] = leafIssues.slice(0, 1).map(invalidField);
  const parsedBody = parseBody(schema, leaveOut(body, leftOutPaths));
  const isLocal = leafIssues.some(({ params }) => params?.isLocal === true);
  return {
    ...parsedBody,
    body,
    allowed: () => toAllowedBody(body, parsedBody.data),
    unsupported: unsupportedError,
    isLocal,
  };
}

/** Returns the part of a body that changes neither the model nor the price of a token: read fields, and tools of the client. */
function toAllowedBody(body: ApiRequest["body"], read: unknown): ReturnType<ApiRequest["allowed"]> {
  const knownEntries = Object.entries(body).filter(([key]) => Object.hasOwn(Object(read), key));
  const { tools, ...otherFields } = Object.fromEntries(knownEntries);
  const hostedNames = new Set<string>();
  const isClientTool = (sentTool: unknown) => {
    const toolType = toObject(sentTool)["type"] ?? "custom";
    if (!clientTools.has(toolType))
      hostedNames.add(`tools.${typeof toolType === "string" ? toName(toolType) : "unprintable"}`);
    return clientTools.has(toolType);
  };
  const ownTools = Array.isArray(tools) ? { tools: tools.filter(isClientTool) } : {};
  const droppedNames = Object.keys(body).filter((key) => !Object.hasOwn(Object(read), key));
  return {
    body: { ...otherFields, ...ownTools },
    droppedFields: listNames([...droppedNames.map(toName), ...hostedNames]),
  };
}

const clientTools: ReadonlySet<unknown> = new Set(["function", "custom", "namespace"]);

type Path = readonly PropertyKey[];

/** The path of an unknown element or of a field that is not needed. @throws HttpError (400) for another. */
function placeToLeaveOut(issue: Issue, body: object, neededNames?: readonly string[]): Path {
  const { path } = issue;
  const elementIndex = path.findLastIndex((pathStep) => typeof pathStep === "number");
  const isUnknown = issue.discriminator === "type" && typeof valueAt(body, path) === "string";
  if ((isUnknown || issue.params?.isPassed === true) && elementIndex >= 0)
    return path.slice(0, elementIndex + 1);
  const [topField] = path;
  if (topField === undefined || neededNames?.includes(String(topField)) !== false)
    throw invalidField(issue);
  return [topField];
}

function valueAt(container: unknown, path: Path): unknown {
  return path.reduce((innerValue, pathStep) => toObject(innerValue)[String(pathStep)], container);
}

/** Returns a copy of an object or a list without the values at the paths. */
function leaveOut(container: object, leftOutPaths: readonly Path[]): object {
  const innerPaths = Map.groupBy(leftOutPaths, ([firstStep]) => String(firstStep));
  const entries = Object.entries(container).flatMap(([key, inner]): [string, unknown][] => {
    const rest = innerPaths.get(key)?.map((leftOutPath) => leftOutPath.slice(1));
    if (rest === undefined) return [[key, inner]];
    return rest.some((path) => path.length === 0) ? [] : [[key, leaveOut(toObject(inner), rest)]];
  });
  return Array.isArray(container) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

/** A wrong field; the message names an alternative if there is one. */
interface Issue extends Pick<z.core.$ZodIssue, "path" | "message"> {
  /** The name of the field that none of a union's branches knows. */
  readonly discriminator?: string | undefined;
  readonly params?: Partial<PassedIssue> | undefined;
}

/** Returns the error (400) of a wrong field. */
export function invalidField({ path, message }: Issue): HttpError {
  const field = path.map(toName).join(".") || "the body";
  return new HttpError(400, `This router cannot do this: ${field}: ${message}.`, { param: field });
}

/** The issues in the branch of a union that got furthest, else the union's own. */
function listLeaves(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const branches = issue.errors.map((branchIssues) => branchIssues.flatMap(listLeaves));
  const toDepth = ([firstIssue]: readonly Issue[]) => firstIssue?.path.length ?? 0;
  const [deepestIssues = []] = branches.toSorted((one, other) => toDepth(other) - toDepth(one));
  if (toDepth(deepestIssues) === 0) return [issue];
  return deepestIssues.map(({ path, message, discriminator, params }) => ({
    path: [...issue.path, ...path],
    message,
    discriminator,
    params,
  }));
}

const MOST_NAMES = 20;

function listNames(givenNames: Iterable<string>): string[] {
  const uniqueNames = [...new Set(givenNames)];
  const more = uniqueNames.length - MOST_NAMES;
  return more > 0 ? [...uniqueNames.slice(0, MOST_NAMES), `and-${more}-more`] : uniqueNames;
}

/** Yields the names of fields that were sent and not read, such as `messages.name`. */
function* unreadFields(sentValue: unknown, readValue: unknown, path = ""): Generator<string> {
  if (!isObject(sentValue) || !isObject(readValue)) return;
  for (const [key, value] of Object.entries(sentValue)) {
    const isRead = Object.hasOwn(readValue, key);
    if (isRead ? value === readValue[key] || !isObject(value) : asksForNothing(value)) continue;
    const name = toName(key);
    const innerPath = Array.isArray(sentValue) ? path : path === "" ? name : `${path}.${name}`;
    if (isRead) yield* unreadFields(value, readValue[key], innerPath);
    else yield innerPath;
  }
}

/** Names are sent in headers. */
function toName(fieldName: PropertyKey): string {
  return /^[\w.-]{1,64}$/.test(String(fieldName)) ? String(fieldName) : "unprintable";
}

/** Whether a value is null, false or empty. */
export function asksForNothing(value: unknown): boolean {
  return value === null || value === false || (isObject(value) && Object.keys(value).length === 0);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Returns an object, empty if the value is none. */
export function toObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** Returns the JSON object in a text; null if there is none. */
export function parseObject(jsonText: string): Record<string, unknown> | null {
  const jsonValue = parseJson(jsonText);
  return isRecord(jsonValue) ? jsonValue : null;
}
