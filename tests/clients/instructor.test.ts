import Instructor from "@instructor-ai/instructor";
import { expect, test } from "vitest";
import { z } from "zod/v3";
import { openAiClient } from "./openai-client.ts";

const schema = z.object({ title: z.string(), mood: z.enum(["glad", "sad"]), year: z.number() });
const modes = ["TOOLS", "JSON", "JSON_SCHEMA", "MD_JSON"] as const;

test.each(modes)("instructor reads an object in its mode %s", async (mode) => {
  const { client } = await openAiClient();
  const instructor = Instructor({ client, mode });
  const film = await instructor.chat.completions.create({
    model: "auto",
    messages: [{ role: "user", content: 'The film "Alien" of 1979 is sad' }],
    response_model: { schema, name: "Film" },
  });
  expect(film).toMatchObject({ title: "Alien", mood: "sad", year: 1979 });
});
