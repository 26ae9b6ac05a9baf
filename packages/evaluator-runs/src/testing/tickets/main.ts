import { runProgram } from "evaluator-kit";
import { openCatalog, openRuns, openTransport } from "../../service.ts";
import { runTickets } from "./ticket-program.ts";
import { ticketSource } from "./ticket-source.ts";

// The program of the tests that kill processes, or count them.
const services = { openTransport, openCatalog, openRuns, source: ticketSource };
await runProgram((words, context) => runTickets(words, Object.assign(context, services)), {
  name: "Tickets",
});
