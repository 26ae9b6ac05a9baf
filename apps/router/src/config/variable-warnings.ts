import { type Environment, likeness, printable } from "evaluator-kit";

const formerNames = ["ROUTER_CONTEXT", "ROUTER_TIES"];

/** Kubernetes sets such variables in each container for a service whose name begins with "router". */
const ofKubernetes = /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)/;
const addressOfKubernetes = /^(?:tcp|udp|sctp):\/\//;

/** Returns a line about former variables, and one for each `ROUTER_…` that has no meaning, such as a misspelt one. */
export function listWarnings(
  environment: Environment,
  { knownNames, keys }: { knownNames: readonly string[]; keys: readonly string[] },
): string[] {
  const former = formerNames.filter((formerName) => environment[formerName] !== undefined);
  const noEffectAdvice = "no effect any more. The user's message decides, and its choice is used.";
  const formerLines = former.length === 0 ? [] : [`${former.join(" and ")}: ${noEffectAdvice}`];
  const expectedNames = new Set([...knownNames, ...formerNames]);
  const unknownNames = Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || !name.startsWith("ROUTER_") || expectedNames.has(name)) return [];
    const isOfKubernetes = ofKubernetes.test(name) || addressOfKubernetes.test(value);
    return isOfKubernetes || keys.includes(value) ? [] : [name];
  });
  return [...formerLines, ...unknownNames.map((name) => describeUnknown(name, knownNames))];
}

function describeUnknown(variableName: string, knownNames: readonly string[]): string {
  const words = withoutPrefix(variableName);
  // The last words are the thing: a LOG is rather a DECISION_LOG than a LOG_TEXT.
  const isSameThing = (known: string) => known.startsWith("ROUTER_") && known.endsWith(`_${words}`);
  const likenessTo = (knownName: string) =>
    likeness(words, withoutPrefix(knownName)) + (isSameThing(knownName) ? 0.3 : 0);
  const [nearest = ""] = knownNames.toSorted((one, other) => likenessTo(other) - likenessTo(one));
  const likelyNames = isSameThing(nearest) ? knownNames.filter(isSameThing) : [nearest];
  const hint =
    likenessTo(nearest) < 0.4
      ? ".env.example lists the variables."
      : `Did you mean ${likelyNames.join(" or ")}?`;
  return printable`${variableName} is no variable of the router and has no effect. ${hint}`;
}

function withoutPrefix(variableName: string): string {
  return variableName.replace(/^ROUTER_/, "");
}
