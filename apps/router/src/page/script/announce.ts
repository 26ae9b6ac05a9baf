import { byId } from "./elements.ts";

/** Tells a screen reader. */
export function announce(text: string): void {
  byId("status").textContent = text;
}
