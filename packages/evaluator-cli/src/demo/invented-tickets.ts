import { seededRandom } from "evaluator-kit";

/** An invented ticket, and whether its customer wants the money back. */
export type Ticket = ReturnType<typeof inventTickets>[number];

const texts = (text: string) => text.split("|");
const things = texts("kettle|desk lamp|rain coat|keyboard|yoga mat|phone case|backpack|clock");
const problems = texts(
  "arrived with a crack|never reached me|is not the colour that I chose|stopped working after two days|came twice|has no manual in the box|is smaller than I thought",
);
const wishes = {
  true: "Please send my money back.|I would like a refund.|Cancel the order and pay me back, please.|I do not want another one, only what I paid.|Return the amount to my card.",
  false:
    "Please send me another one.|How do I exchange it?|No refund is needed; I only want you to know.|Can someone tell me what to do next?|Is there a spare part that I can buy?",
};
const endings = texts("Thank you.|I look forward to your answer.|Regards.|It is a bit urgent.");

/** Returns 400 tickets; six in ten customers want their money back. */
export function inventTickets(seed: number) {
  const random = seededRandom(seed);
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? "";
  return Array.from({ length: 400 }, (_, index) => {
    const truth = random() < 0.6;
    const thing = pick(things);
    const order = `Order ${10_000 + index * 17}: the ${thing} ${pick(problems)}.`;
    const body = `${order} ${pick(texts(wishes[`${truth}`]))} ${pick(endings)}`;
    return { id: `t-${String(index + 1).padStart(3, "0")}`, subject: `My ${thing}`, body, truth };
  });
}
