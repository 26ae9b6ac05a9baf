import { recordingTransport, sampleResponse } from "./samples.ts";

const scam = (probability: number) => ({ type: "boolean", probability });

/** Two engines; the first is unsure whether every second mail is a scam. */
export function twoEngines() {
  const { answers, ...rest } = sampleResponse({ importance: 0 });
  const first = recordingTransport((at) => ({
    ...rest,
    answers: { ...answers, scam: scam(at % 2 === 0 ? 0.02 : 0.6) },
  }));
  const again = recordingTransport(() => ({ ...rest, answers: { scam: scam(0.97) } }));
  const second = { ...again, name: "openai", target: { url: "https://b.example/", modelId: "b" } };
  const openTransport = async ({ engine }: { engine?: string | undefined }) =>
    engine === "openai" ? second : first;
  const words = ["--then", "openai", "--unsure", "scam=0.8", "--then-price", "1"];
  return { first, again, openTransport, words };
}
