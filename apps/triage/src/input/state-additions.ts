import type { JsonObject } from "evaluator-client";
import { type AdditionCosts, printCount, printMails, printUsd } from "evaluator-runs/source";
import type { MailStateOptions } from "./mail-schema.ts";
import { type MailRecord, pickStateFields } from "./mail.ts";
import { contextKeys, stateFields } from "./state-fields.ts";

/** Something that a state may have beside the contract's keys, and what it costs. */
interface Addition {
  readonly name: string;
  readonly keys: readonly string[];
  readonly isOn: boolean;
  mails: number;
  tokens: number;
}

/** What the state of mails may have more, whether it is asked for or not, and what that costs. */
export class StateAdditions implements AdditionCosts {
  readonly #options: MailStateOptions;
  readonly #tokensOf: (state: JsonObject) => number;
  readonly #additions: readonly Addition[];

  constructor(options: MailStateOptions, tokensOf: (state: JsonObject) => number) {
    const none = { mails: 0, tokens: 0 };
    this.#options = options;
    this.#tokensOf = tokensOf;
    this.#additions = [
      { name: "--context", keys: contextKeys, isOn: options.context, ...none },
      ...stateFields.map((name) => {
        return { name, keys: [name], isOn: options.stateFields.includes(name), ...none };
      }),
    ];
  }

  /** Counts a mail of the run. */
  add({ mail, state }: MailRecord): void {
    if (!this.#options.context && stateFields.every((field) => mail[field] === undefined)) return;
    const whole = { ...state, ...pickStateFields(mail, stateFields) };
    const tokens = this.#tokensOf(whole);
    for (const addition of this.#additions) {
      if (!addition.keys.some((key) => key in whole)) continue;
      addition.mails += 1;
      addition.tokens += tokens - this.#tokensOf(without(whole, addition.keys));
    }
  }

  /** Returns in lines what each costs, over all mails that have it; nothing where none has any. */
  describe(inputUsdPerMillionTokens: number | null): string {
    const found = this.#additions.filter(({ mails }) => mails > 0);
    if (found.length === 0) return "";
    const lines = found.map(({ name, isOn, mails, tokens }) => {
      const usd = (tokens * (inputUsdPerMillionTokens ?? 0)) / 1_000_000;
      const cost = inputUsdPerMillionTokens === null ? "" : `, ${printUsd(usd)}`;
      return `  ${name} (${isOn ? "on" : "off"}): ${printMails(mails)}, about ${printCount(tokens)} tokens${cost}\n`;
    });
    return `What the state may have more, and what that costs where a mail has it:\n${lines.join("")}`;
  }
}

function without(state: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !keys.includes(key)));
}
