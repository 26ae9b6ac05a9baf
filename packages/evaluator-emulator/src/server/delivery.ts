import type { Call } from "./call.ts";
import type { Reply } from "./reply.ts";

/**
 * What happens on the wire: a whole reply; half of its body and then the end (`cut`) or a broken
 * connection (`reset`); or no reply at all.
 */
export type Delivery =
  | { readonly ending: "whole" | "cut" | "reset"; readonly reply: Reply }
  | { readonly ending: "hang" | "reset"; readonly reply: null };

/** Decides what happens to a call. */
export type Deliver = (call: Call) => Promise<Delivery>;
