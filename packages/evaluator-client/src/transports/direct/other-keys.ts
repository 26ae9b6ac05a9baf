import { type Environment, ownKeyVariables } from "../../environment.ts";
import { serviceRows, services } from "./services.ts";

/** The variable of each key, and the transport or service that it belongs to. */
const owners: ReadonlyMap<string, string> = new Map([
  ...services.flatMap((name) => serviceRows[name].keyVariables.map((key) => [key, name] as const)),
  ...Object.entries(ownKeyVariables).map(([name, key]) => [key, name] as const),
]);

/** Returns a sentence about the key of another service in the environment, or nothing; such a key is never used by itself. */
export function noteOfOtherKey(env: Environment, own: readonly string[]): string {
  const isOther = (key: string) => Boolean(env[key]?.trim()) && !own.includes(key);
  const other = [...owners.keys()].find(isOther);
  if (other === undefined) return "";
  return ` ${other} is set, which is another service's. To ask that one, set EVALUATOR_TRANSPORT=${owners.get(other)}.`;
}
