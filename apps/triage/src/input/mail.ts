import { z } from "zod";

const advice = {
  id: "give every record an id of its own",
  date: "write it as YYYY-MM-DD",
  text: 'write it as text, "" when the mail has none',
};

/** One input record (contract section 4.7); fields it does not name are left out. */
export const mailSchema = z.object(
  {
    id: textField(advice.id).min(1, `is empty; ${advice.id}`),
    date: textField(advice.date).pipe(z.iso.date(`is not a day of the calendar; ${advice.date}`)),
    from: textField(advice.text),
    subject: textField(advice.text),
    snippet: textField(advice.text),
  },
  "is not an object; write { id, date, from, subject, snippet }",
);
/** See {@link mailSchema}. */
export type Mail = z.infer<typeof mailSchema>;

function textField(whatToDo: string) {
  return z.string({
    error: ({ input }) => `${input === undefined ? "is missing" : "is not text"}; ${whatToDo}`,
  });
}
