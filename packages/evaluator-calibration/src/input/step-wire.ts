/** Returns the wire of a model that was asked again: it has its step if a model of the same name was asked before. */
export function wireOfStep(
  { modelId, wire }: { readonly modelId: string | null; readonly wire: string | null },
  earlier: readonly (string | null)[],
): string | null {
  return earlier.includes(modelId) ? `${wire ?? "unknown"} (step ${earlier.length + 1})` : wire;
}

/** Returns the step that a wire has, or null. */
export function stepOfWire(wire: string | null): number | null {
  const [, step] = /\(step (\d{1,3})\)$/.exec(wire ?? "") ?? [];
  return step === undefined ? null : Number(step);
}
