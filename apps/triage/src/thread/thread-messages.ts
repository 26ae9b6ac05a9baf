/** A call of a method of the object in a thread. */
export interface ThreadCall {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** What came of a call: a result, the words of a TriageError, or any other failure. */
export type ThreadReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly problem: string }
  | { readonly id: number; readonly failure: unknown };

/** The id of the first reply, which says whether the object could be made. */
export const MAKING_ID = 0;
