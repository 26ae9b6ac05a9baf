interface StepModel {
  readonly modelId: string | null;
  readonly wire: string | null;
}

/** Returns a function for the models that were asked one after the other: a wire has its step if an earlier model has the same name. */
export function stepWires(): (stepModel: StepModel) => string | null {
  const earlier: (string | null)[] = [];
  return ({ modelId, wire }) => {
    const isRepeated = earlier.includes(modelId);
    const stepNumber = earlier.push(modelId);
    return isRepeated ? `${wire ?? "unknown"} (step ${stepNumber})` : wire;
  };
}

/** Returns the step that a wire has, or null. */
export function stepOfWire(wire: string | null): number | null {
  const [, stepText] = /\(step (\d{1,3})\)$/.exec(wire ?? "") ?? [];
  return stepText === undefined ? null : Number(stepText);
}
