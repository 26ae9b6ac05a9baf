import { responseWith } from "./report-pages.ts";
import { recordingTransport } from "./samples.ts";

/** Two engines; the first is unsure whether every second mail is a scam. */
export function twoEngines() {
  const first = recordingTransport((at) => responseWith({ scam: at % 2 === 0 ? 0.02 : 0.6 }));
  const again = recordingTransport(() => {
    const { answers, ...rest } = responseWith({ scam: 0.97 });
    return { ...rest, answers: { scam: answers.scam } };
  });
  const second = { ...again, name: "openai", target: { url: "https://b.example/", modelId: "b" } };
  const openTransport = async ({ engine }: { engine?: string | undefined }) =>
    engine === "openai" ? second : first;
  const words = ["--then", "openai", "--unsure", "scam=0.8", "--then-price", "1"];
  return { first, again, openTransport, words };
}
