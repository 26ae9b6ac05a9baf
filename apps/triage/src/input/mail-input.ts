import type { CliContext } from "evaluator-kit";
import type { JsonObject } from "evaluator-client";
import type { InputOptions, InputRecord, RecordInput, StateOptions } from "evaluator-runs/source";
import { StateAdditions } from "./state-additions.ts";
import { chooseState, type ToState } from "./state.ts";
import { MailFile } from "./mail-file.ts";
import { stateOptionsSchema } from "./mail-schema.ts";
import { toRecord, toState } from "./mail.ts";

/** A file of mails as the input of a run. */
export class MailInput implements RecordInput {
  readonly #file: MailFile;
  readonly #toState: ToState;
  readonly #options: StateOptions;

  private constructor(file: MailFile, toState: ToState, options: StateOptions) {
    this.#file = file;
    this.#toState = toState;
    this.#options = options;
  }

  /** Opens a file of mails. @throws CliError that names what is wrong with it. */
  static async open(path: string, { state = {}, ...options }: InputOptions): Promise<MailInput> {
    const { stateFields } = stateOptionsSchema.parse(state);
    return new MailInput(await MailFile.open(path, { ...options, stateFields }), toState, state);
  }

  get length(): number {
    return this.#file.length;
  }

  get leftOutCount(): number {
    return this.#file.leftOutCount;
  }

  describeLeftOut(): string {
    return this.#file.describeLeftOut();
  }

  async *records(limit?: number): AsyncGenerator<InputRecord> {
    for await (const { index, mail } of this.#file.mails(limit)) {
      yield { index, record: toRecord(mail, this.#toState) };
    }
  }

  async withState(options: StateOptions, context: CliContext): Promise<RecordInput> {
    const chosen = await chooseState(stateOptionsSchema.parse(options), this.#file, context);
    return new MailInput(this.#file, chosen, options);
  }

  additions(tokensOf: (state: JsonObject) => number): StateAdditions {
    return new StateAdditions(stateOptionsSchema.parse(this.#options), tokensOf);
  }
}
