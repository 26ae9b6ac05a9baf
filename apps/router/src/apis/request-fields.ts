import { isRecord } from "evaluator-kit";
import { z } from "zod";
import type { JsonSchema } from "../conversation/conversation.ts";
import { efforts } from "../reply/efforts.ts";
import { isOwnNetwork } from "../own-network.ts";

/** The values of fields with which no token costs more than its price, in all APIs: some services mix them. */
export const cheapValues = {
  service_tier: ["auto", "default", "standard", "standard_only", "flex"],
  speed: ["standard"],
};

/** A name or an id. */
export const name = z.string().min(1);
/** A text, or none. */
export const text = z.string().nullish();
/** A flag, or none. */
export const flag = z.boolean().nullish();
/** A number, or none. */
export const number = z.number().nullish();
/** A count of tokens, or none. */
export const count = z.int().positive().nullish();
/** The object itself: a copy would lose a key such as `__proto__`. */
export const jsonObject = z.custom<JsonSchema>(isRecord, "not an object; send one");
/** The effort of reasoning, or none. */
export const effort = z
  .enum(["none", ...efforts])
  .transform((effortLevel) => (effortLevel === "max" ? "xhigh" : effortLevel))
  .nullish();

/** The parameters of an issue that excludes a part from other APIs: a service of the client's own takes it. */
export interface PassedIssue {
  readonly isPassed: boolean;
  /** Whether only services on the router's own network reach its address. */
  readonly isLocal?: boolean;
}

/** Accepts an address that every model's service can load; one with `http:` is passed. */
export function toAddress(message: string, otherAddress?: RegExp) {
  return z.string().check(({ value, issues }) => {
    if (otherAddress?.test(value) === true) return;
    const url = URL.parse(value);
    if (url?.protocol === "https:") return;
    const params: PassedIssue = { isPassed: url?.protocol === "http:", isLocal: isOwnNetwork(url) };
    issues.push({ code: "custom", input: value, message, params });
  });
}

/** An address of a file. */
export const webUrl = toAddress("is not an https: address");

/** Accepts a text or a list of parts. */
export function toContent<TPart extends z.ZodType>(partSchema: TPart) {
  return z.union([z.string(), z.array(partSchema)], "neither text nor a list of parts");
}
