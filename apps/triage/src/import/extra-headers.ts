import { toPrintable } from "evaluator-kit";
import type { StateFields } from "../input/mail-schema.ts";

// What of them a model can make something of; the rest costs tokens.
const ATTACHMENTS = 20;
const NAME_LENGTH = 100;
const LIST_ID_LENGTH = 200;
const RESULTS_LENGTH = 300;

/** What a source says of a mail beside what everybody reads. */
export interface ExtraHeaders {
  readonly attachments: readonly { readonly name: string; readonly type: string }[];
  /** The `List-Id` header; empty without one. */
  readonly listId: string;
  /** The `Authentication-Results` header that was added last; empty without one. */
  readonly authenticationResults: string;
}

/** Returns what a record has of it, in a form that is safe to print; nothing of what is empty. */
export function toStateFields(
  { attachments, listId, authenticationResults }: ExtraHeaders,
  cutNumbers: (text: string) => string,
): StateFields {
  const named = attachments.slice(0, ATTACHMENTS).map(({ name, type }) => ({
    name: cutNumbers(short(name, NAME_LENGTH)).trim(),
    type: short(type, NAME_LENGTH).toLowerCase(),
  }));
  const list = short(listId, LIST_ID_LENGTH);
  const results = toResults(authenticationResults);
  return {
    ...(named.length > 0 && { attachments: named }),
    ...(list !== "" && { list_id: list }),
    ...(results !== "" && { authentication_results: results }),
  };
}

function short(text: string, length: number): string {
  return toPrintable(text.slice(0, 10 * length))
    .slice(0, length)
    .toWellFormed();
}

/** Returns who checked a mail and what came of it, without comments and parts of signatures. */
function toResults(header: string): string {
  const bare = header.slice(0, 10 * RESULTS_LENGTH).replace(/\([^()]*\)/g, " ");
  return short(bare.replace(/\bheader\.[bs]=[^\s;]*/g, " "), RESULTS_LENGTH).replace(/ ;/g, ";");
}
