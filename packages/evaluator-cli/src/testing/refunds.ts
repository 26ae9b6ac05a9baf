import { join } from "node:path";
import { boolean, type Transport } from "evaluator-client";
import { openJournal, runRecords } from "evaluator-runs";

const questions = { refund: boolean("Does the customer ask for a refund?") };

/** Ticket 3 is surely a refund, as is each seventh; only one of them is none. */
const printedOf = (index: number) => (index % 7 === 3 ? 0.95 + (index % 5) / 100 : 0.02);
export const isRefund = (index: number) => index % 7 === 3 && index !== 3;

/** Answers tickets in a journal; the text of ticket 7 was edited if `isEdited`, and so many tickets have each text. */
export async function ask(
  cwd: string,
  tickets: number,
  { copies = 1, isEdited = false }: { copies?: number; isEdited?: boolean } = {},
): Promise<void> {
  const transport: Transport = {
    name: "gateway",
    target: { url: "https://engine.example/v1", modelId: "maker/judge-7" },
    async send({ state }) {
      const probability = printedOf((state as { number: number }).number);
      const response = {
        answers: { refund: { type: "boolean", probability } },
        rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
        usage: { inputTokens: 300, outputTokens: 4 },
        warnings: [],
        providerMetadata: {},
      };
      return { response, modelId: "maker/judge-7", requestId: null, raw: null };
    },
  };
  const records = Array.from({ length: tickets }, (_, at) => {
    const number = Math.floor(at / copies);
    const body = isEdited && at === 7 ? "Another text" : `Ticket ${number}`;
    return { id: `t-${at}`, state: { number, body } };
  });
  using journal = openJournal(join(cwd, "tickets.evaluator.sqlite"), { questions, transport });
  await runRecords(records, { journal, transport, concurrency: 64 });
}
