import { isRecord } from "evaluator-kit";
import type { ClientApiType } from "../conversation/upstream-types.ts";
import type { PassedRequest } from "./passed-request.ts";
import type { Capabilities } from "./upstream.ts";

/** Efforts of reasoning in rising order. */
export const efforts = ["minimal", "low", "medium", "high", "xhigh", "max"] as const;
const effortOrder: readonly string[] = efforts;

const LOW = effortOrder.indexOf("low");

/**
 * Returns the highest effort of a model up to a wanted one, or low for minimal. It is the wanted one if its efforts are
 * not known or all higher, which would cost more, and for none: services turn reasoning off in other ways.
 */
export function nearestEffort<TEffort extends string>(
  wantedEffort: TEffort,
  { efforts: ownEfforts = [] }: Capabilities = {},
): TEffort {
  const wantedRank = effortOrder.indexOf(wantedEffort);
  const effortRanks = ownEfforts.map((ownEffort) => effortOrder.indexOf(ownEffort));
  const nearest = Math.max(-1, ...effortRanks.filter((rank) => rank <= Math.max(wantedRank, LOW)));
  return wantedRank === -1 || nearest === -1 ? wantedEffort : (effortOrder[nearest] as TEffort);
}

/** The fields of each API that hold an effort, or an object with it; services mix the forms of APIs. */
const fieldsByType = {
  "openai-chat": ["reasoning_effort", "reasoning"],
  "openai-responses": ["reasoning"],
  anthropic: ["output_config"],
} as const satisfies Readonly<Record<ClientApiType, readonly string[]>>;
const effortFields: ReadonlySet<string> = new Set(Object.values(fieldsByType).flat());

/** Returns the fields of a body with efforts that a model does not have, with the nearest ones of the model. */
export function fitEfforts(body: PassedRequest["body"], capabilities?: Capabilities) {
  const fittedEntries = Object.entries(body).flatMap(([fieldName, value]): [string, unknown][] => {
    const sentEffort = isRecord(value) ? value["effort"] : value;
    if (!effortFields.has(fieldName) || typeof sentEffort !== "string") return [];
    const nearestName = nearestEffort(sentEffort, capabilities);
    if (nearestName === sentEffort) return [];
    return [[fieldName, isRecord(value) ? { ...value, effort: nearestName } : nearestName]];
  });
  return Object.fromEntries(fittedEntries);
}
