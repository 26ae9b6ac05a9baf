/** Fields of a record that a state may have more, in the order in which a state has them. */
export const stateFields = ["attachments", "list_id", "authentication_results"] as const;

/** See {@link stateFields}. */
export type StateField = (typeof stateFields)[number];

/** The additions to the state; a journal keeps them with an absolute path. */
type MailStateOptions = {
  readonly context: boolean;
  /** The day ages are counted to; null for today. */
  readonly today: string | null;
  /** A file of known addresses as typed, or null. */
  readonly contacts: string | null;
  /** The fields of a record that are sent beside the contract's. */
  readonly stateFields: readonly StateField[];
};

/** Returns typed or kept options with their defaults. */
export function toStateOptions(options: Readonly<Record<string, unknown>>): MailStateOptions {
  const givenMailStateOptions = options as Partial<MailStateOptions>;
  const {
    context = false,
    today = null,
    contacts = null,
    stateFields: fields = [],
  } = givenMailStateOptions;
  return { context, today, contacts, stateFields: fields };
}
