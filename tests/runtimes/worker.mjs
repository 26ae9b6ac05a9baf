import { evaluateHere } from "./evaluate.mjs";

export default {
  async fetch(request) {
    return Response.json(await evaluateHere(new URL(request.url).searchParams.get("base")));
  },
};
