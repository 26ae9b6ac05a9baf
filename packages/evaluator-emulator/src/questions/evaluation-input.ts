/** A JSON object whose keys are data, whatever their name. */
type JsonRecord = Readonly<Record<string, unknown>>;

/** What a state, an instruction or a description may be: text, an object or a list (field fact). */
export type Content = string | JsonRecord | readonly unknown[];

/** A question that picks one of the named options. */
export interface ChoiceInput {
  readonly type: "choice";
  readonly instructions: Content | null;
  /** Option name to description, or null where an option has none. */
  readonly criteria: Readonly<Record<string, Content | null>>;
}

/** A question that places the state on ordered levels. */
export interface ScoreInput {
  readonly type: "score";
  readonly instructions: Content | null;
  /** Level descriptions from index 0 up. */
  readonly criteria: readonly Content[];
}

/** A yes/no question. */
export interface BooleanInput {
  readonly type: "boolean";
  readonly instructions: Content | null;
  /** What counts as yes and as no, or null where the caller does not say. */
  readonly criteria: { readonly true: Content | null; readonly false: Content | null };
}

/** One question, the same whichever wire it came over. */
export type QuestionInput = ChoiceInput | ScoreInput | BooleanInput;

/** What every wire's evaluation request is brought to before it is answered. */
export interface EvaluationInput {
  readonly state: Content;
  readonly questions: Readonly<Record<string, QuestionInput>>;
}
