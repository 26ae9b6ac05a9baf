import type { Transport } from "evaluator-client";

/** Who answers: two services never share an answer. */
export interface Service {
  /** The wire and the address behind it, without user name or password. */
  readonly wire: string;
  /** The model the requests name. */
  readonly modelId: string;
}

/** Says who answers through a transport. */
export function serviceOf({ name, target }: Transport): Service {
  if (target === undefined) return { wire: name, modelId: "unknown" };
  const { protocol, host, pathname } = new URL(target.url);
  return { wire: `${name} ${protocol}//${host}${pathname}`, modelId: target.modelId };
}
