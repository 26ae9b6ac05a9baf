import { isRecord } from "evaluator-kit";
import type { PassedRequest } from "./passed-request.ts";
import type { Capabilities } from "./upstream.ts";

/** Efforts of reasoning in rising order. */
const order = ["minimal", "low", "medium", "high", "xhigh", "max"];

const LOW = order.indexOf("low");

/**
 * Returns the highest effort of a model up to a wanted one, or low for minimal. It is the wanted one if its efforts are
 * not known or all higher, which would cost more, and for none: services turn reasoning off in other ways.
 */
export function nearestEffort<TEffort extends string>(
  wantedEffort: TEffort,
  { efforts = [] }: Capabilities = {},
): TEffort {
  const at = order.indexOf(wantedEffort);
  const ranks = efforts.map((each) => order.indexOf(each));
  const nearest = Math.max(-1, ...ranks.filter((rank) => rank <= Math.max(at, LOW)));
  return at === -1 || nearest === -1 ? wantedEffort : (order[nearest] as TEffort);
}

/** The fields that hold an effort in OpenAI's APIs and in Anthropic's. */
const effortFields: ReadonlySet<string> = new Set(["reasoning", "output_config"]);

/** Returns the fields of a body with efforts that a model does not have, with the nearest ones of the model. */
export function fitEfforts(body: PassedRequest["body"], capabilities?: Capabilities) {
  const fittedEntries = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    if (name === "reasoning_effort" && typeof value === "string") {
      const nearest = nearestEffort(value, capabilities);
      return nearest === value ? [] : [[name, nearest]];
    }
    if (!effortFields.has(name) || !isRecord(value)) return [];
    const { effort } = value;
    const nearest = typeof effort === "string" ? nearestEffort(effort, capabilities) : effort;
    return nearest === effort ? [] : [[name, { ...value, effort: nearest }]];
  });
  return Object.fromEntries(fittedEntries);
}
