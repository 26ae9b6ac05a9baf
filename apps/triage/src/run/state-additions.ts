import { estimateCost, type JsonObject } from "evaluator-client";
import { printCount, printMails, printUsd } from "../amounts.ts";
import { type Mail, pickStateFields, stateFields } from "../input/mail.ts";
import { contextKeys } from "../state.ts";
import type { Price } from "./cost.ts";
import type { RunContext } from "./run-context.ts";

const noPrice = { inputUsdPerMillionTokens: 0 };

/** Something that a state may have beside the contract's keys, and what it costs. */
interface Addition {
  readonly name: string;
  readonly keys: readonly string[];
  readonly isOn: boolean;
  mails: number;
  tokens: number;
}

/** What the state of mails may have more, whether it is asked for or not, and what that costs. */
export class StateAdditions {
  readonly #context: RunContext;
  readonly #additions: readonly Addition[];

  constructor(context: RunContext) {
    const { run } = context;
    const none = { mails: 0, tokens: 0 };
    this.#context = context;
    this.#additions = [
      { name: "--context", keys: contextKeys, isOn: run.context, ...none },
      ...stateFields.map((name) => {
        return { name, keys: [name], isOn: run.stateFields.includes(name), ...none };
      }),
    ];
  }

  /** Counts a mail of the run. */
  add(mail: Mail): void {
    const { run } = this.#context;
    if (!run.context && stateFields.every((field) => mail[field] === undefined)) return;
    const whole = { ...this.#context.toState(mail), ...pickStateFields(mail, stateFields) };
    const tokens = this.#tokensOf(whole);
    for (const addition of this.#additions) {
      if (!addition.keys.some((key) => key in whole)) continue;
      addition.mails += 1;
      addition.tokens += tokens - this.#tokensOf(without(whole, addition.keys));
    }
  }

  /** Returns in lines what each costs, over all mails that have it; nothing where none has any. */
  describe({ inputUsdPerMillionTokens }: Price): string {
    const found = this.#additions.filter(({ mails }) => mails > 0);
    if (found.length === 0) return "";
    const lines = found.map(({ name, isOn, mails, tokens }) => {
      const usd = (tokens * (inputUsdPerMillionTokens ?? 0)) / 1_000_000;
      const cost = inputUsdPerMillionTokens === null ? "" : `, ${printUsd(usd)}`;
      return `  ${name} (${isOn ? "on" : "off"}): ${printMails(mails)}, about ${printCount(tokens)} tokens${cost}\n`;
    });
    return `What the state may have more, and what that costs where a mail has it:\n${lines.join("")}`;
  }

  #tokensOf(state: JsonObject): number {
    const { transport, questions } = this.#context;
    return estimateCost([{ state, questions }], { ...noPrice, transport }).inputTokens;
  }
}

function without(state: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !keys.includes(key)));
}
