import Instructor from "@instructor-ai/instructor";
import { expect, test } from "vitest";
import { z } from "zod/v3";
import { openAiClient } from "./openai-client.ts";

const schema = z.object({ title: z.string(), mood: z.enum(["glad", "sad"]), year: z.number() });

test("instructor reads an object by a tool call", async () => {
  const { client } = await openAiClient();
  const instructor = Instructor({ client, mode: "TOOLS" });
  const film = await instructor.chat.completions.create({
    model: "auto",
    messages: [{ role: "user", content: 'The film "Alien" of 1979 is sad' }],
    response_model: { schema, name: "Film" },
  });
  expect(film).toMatchObject({ title: "Alien", mood: "sad", year: 1979 });
});
