import { rejectOption } from "../../options.ts";
import { quoteName, valueAt } from "../../questions/json.ts";
import { type Question, questionKinds, type Questions } from "../../questions/kinds.ts";
import type { Rounding } from "../../questions/kinds/kind.ts";
import type { QuestionProblem } from "../../questions/request.ts";
import { imagesAsBytes, type ImageSupport } from "../../questions/state.ts";
import type { PostedService, ServiceFacts } from "../post-transport.ts";
import type { ProviderOptions } from "../provider-options.ts";
import type { DirectReply } from "./direct-wire.ts";
import type { ServiceRow, ServiceRule } from "./services.ts";

/** Returns the first question that a service does not take, or null. */
function problemWith(questions: Questions, row: ServiceRow): QuestionProblem | null {
  const count = Object.keys(questions).length;
  const { questions: most = count } = row.most;
  if (count > most) {
    const message = `${count} questions are more than ${row.title} takes in one call, which is ${most}; ask ${most} of them in one call and the rest in another.`;
    return { message, questionId: null };
  }
  for (const [questionId, question] of Object.entries(questions)) {
    const flaw = countFlaw(question, row) ?? ruleFlaw(question, row);
    if (flaw !== null)
      return { message: `The question ${quoteName(questionId)} ${flaw}.`, questionId };
  }
  return null;
}

function countFlaw(question: Question, { title, most, fewest = 1 }: ServiceRow): string | null {
  const kind = questionKinds[question.type];
  if (kind.limit === null) return null;
  const { unit, option } = kind.limit;
  const count = kind.keys(question).length;
  const highest = { maxOptions: most.options, maxLevels: most.levels }[option];
  if (count > highest)
    return `has ${count} ${unit}s, and ${title} takes at most ${highest}; ask with fewer`;
  if (count >= fewest) return null;
  return `has ${count} ${unit}${count === 1 ? "" : "s"}, and ${title} takes at least ${fewest}; add one`;
}

function ruleFlaw(question: Question, { title, rules = [] }: ServiceRow): string | null {
  for (const rule of rules) {
    const flaw = flaws[rule](question);
    if (flaw !== null) return `${flaw[0]}, and ${title} ${flaw[1]}`;
  }
  return null;
}

type Flaw = readonly [flaw: string, requirement: string] | null;

const flaws: Readonly<Record<ServiceRule, (question: Question) => Flaw>> = {
  "both sides"(question) {
    const hasKeys = questionKinds[question.type].limit !== null;
    if (hasKeys || question.criteria === undefined || !hasBlank(question)) return null;
    return ["describes one side only", "requires both; describe yes and no, or neither"];
  },
  descriptions(question) {
    if (questionKinds[question.type].limit === null || !hasBlank(question)) return null;
    return ["has an empty description", "requires one for each option and level; write it"];
  },
  "plain keys"(question) {
    const keys = questionKinds[question.type].keys(question);
    const wrong = keys.find((key) => key === "" || key !== key.trim() || /\p{Cc}/u.test(key));
    if (wrong === undefined) return null;
    const requirement = "takes no empty name, outer blanks or control characters; rename it";
    return [`has the option ${quoteName(wrong)}`, requirement];
  },
};

function hasBlank(question: Question): boolean {
  const truths = questionKinds[question.type].truths(question) ?? [];
  return truths.some(({ description }) => description.trim() === "");
}

// A sum of exact values may be off by this much, as float32 and clients' own tests have it.
const EXACT_SUM_ERROR = 1e-4;

/** Returns the rounding of a model's answers; services do not report it. */
export function toRounding({ row, model }: AskedModel): Rounding {
  const places = byModel(row.decimals ?? {}, model);
  if (places !== undefined) return { probabilityDecimals: places, scoreDecimals: places };
  return { probabilityDecimals: 15, scoreDecimals: 15, sumError: EXACT_SUM_ERROR };
}

/** Returns the value of a model's name, else of its longest beginning that ends in a mark; or undefined. */
export function byModel<TValue>(
  values: Readonly<Record<string, TValue>>,
  model: string,
): TValue | undefined {
  // An alias has a tilde in front, such as ~typesafe/jev-latest.
  const name = model.replace(/^~/, "");
  const starts = Object.keys(values).filter(
    (start) => start === name || (/\W$|^$/.test(start) && name.startsWith(start)),
  );
  const longest = starts.toSorted((one, other) => other.length - one.length)[0];
  return longest === undefined ? undefined : values[longest];
}

/** Returns the tokens of a reply, with its cached ones; null for 0, as a server reports that does not count. */
export function toUsage(json: unknown, usage: DirectReply["usage"]): DirectReply["usage"] {
  if (usage === null || usage.inputTokens === 0) return null;
  const cachedValue =
    valueAt(json, "usage", "input_tokens_details", "cached_tokens") ??
    valueAt(json, "usage", "total_cached_tokens");
  return Number.isInteger(cachedValue)
    ? { ...usage, cachedInputTokens: cachedValue as number }
    : usage;
}

/** Throws a `ConfigurationError` unless the options of a call are those of a service. */
function checkServiceOptions(
  givenProviderOptions: ProviderOptions,
  service: string,
  row: ServiceRow,
) {
  const knownNames = new Set(row.callOptions);
  const names = Object.keys(givenProviderOptions);
  const wrong =
    names.find((name) => name !== service) ??
    Object.keys(givenProviderOptions[service] ?? {}).find((name) => !knownNames.has(name));
  if (wrong === undefined) return;
  const list = [...knownNames].join(", ");
  rejectOption("providerOptions", `has ${quoteName(wrong)}; write { ${service}: { ${list} } }`);
}

/** Returns a body with the options of a call. */
export function withCallOptions(body: string, options: object | undefined): string {
  return options === undefined || Object.keys(options).length === 0
    ? body
    : `${body.slice(0, -1)},${JSON.stringify(options).slice(1)}`;
}

/** Returns the price of a reply in US dollars: the service's own figure, else by the row's price, else null. */
export function toCost(json: unknown, usage: DirectReply["usage"], askedModel: AskedModel) {
  const reportedValue = valueAt(json, "usage", "cost");
  if (typeof reportedValue === "number" && reportedValue >= 0) return reportedValue;
  const usdPerMillion = findPrice(askedModel);
  if (usage === null || usdPerMillion === undefined) return null;
  return (usage.inputTokens * usdPerMillion) / 1_000_000;
}

/** A service and the model that it was asked for. */
export interface AskedModel {
  readonly row: ServiceRow;
  readonly model: string;
}

/** Returns the price of a million input tokens in US dollars, or undefined. */
function findPrice({ row, model }: AskedModel): number | undefined {
  return byModel(row.prices ?? {}, model);
}

/** Returns whether the `confidence` of a model is the contract's. */
export function definesConfidence({ row, model }: AskedModel): boolean {
  const entries = (row.confidenceOf ?? []).map((start) => [start, true]);
  return byModel(Object.fromEntries(entries) as Record<string, true>, model) === true;
}

const asBytes: ImageSupport = { ...imagesAsBytes, formats: ["png", "jpeg", "webp"] };

/** Which images a service takes, by their form in a request; the form `parts` has its own. */
const imageSupport: Readonly<Partial<Record<NonNullable<ServiceRow["images"]>, ImageSupport>>> = {
  images: { ...asBytes, maxBytes: 4 * 1024 * 1024, maxImages: 4 },
  // An image of more tiles ends in an HTML 504 after 56 s.
  image_url: { ...asBytes, maxImages: 8, maxTiles: 2048 },
};

interface ServerFacts {
  readonly name: string;
  readonly asked: AskedModel | undefined;
  /** The most tokens of a state that the server reads; undefined if unknown. */
  readonly mostStateTokens: number | undefined;
  readonly wire: string;
}

/** Returns what is known of a server: the facts of its row replace those of its form. */
export function listFacts(
  form: Pick<PostedService, "facts" | "imageHeaders">,
  { name, asked: askedModel, mostStateTokens, wire }: ServerFacts,
) {
  const always = { wire, ...(mostStateTokens !== undefined && { mostStateTokens }) };
  const { facts: usual, imageHeaders: headers } = form;
  if (askedModel === undefined)
    return { facts: { ...usual, ...always }, ...(headers && { imageHeaders: headers }) };
  const { limits, images, callOptions } = askedModel.row;
  const support = images && (imageSupport[images] ?? usual.images);
  const imageHeaders = images === "assets" ? headers : undefined;
  const usdPerMillionTokens = findPrice(askedModel);
  const facts: ServiceFacts = {
    ...always,
    ...(limits && { limits }),
    ...(support && { images: support }),
    ...(usdPerMillionTokens !== undefined && { usdPerMillionTokens }),
    problemWith: (questions) => problemWith(questions, askedModel.row),
    ...(callOptions && {
      checkProviderOptions: (givenProviderOptions) =>
        checkServiceOptions(givenProviderOptions, name, askedModel.row),
    }),
  };
  return { facts, ...(imageHeaders && { imageHeaders }) };
}
