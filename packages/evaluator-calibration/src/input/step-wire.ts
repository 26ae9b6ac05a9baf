interface StepModel {
  readonly modelId: string | null;
  readonly wire: string | null;
}

/** Returns a function for the models that were asked one after the other: a wire has its step if an earlier model has the same name. */
export function stepWires(): (model: StepModel) => string | null {
  const earlier: (string | null)[] = [];
  return ({ modelId, wire }) => {
    const isSame = earlier.includes(modelId);
    const step = earlier.push(modelId);
    return isSame ? `${wire ?? "unknown"} (step ${step})` : wire;
  };
}

/** Returns the step that a wire has, or null. */
export function stepOfWire(wire: string | null): number | null {
  const [, step] = /\(step (\d{1,3})\)$/.exec(wire ?? "") ?? [];
  return step === undefined ? null : Number(step);
}
