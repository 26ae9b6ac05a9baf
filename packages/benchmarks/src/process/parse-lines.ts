import { createReadStream } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";

// The least that a program can do with lines of JSON: reads each and parses it. Takes names of files.

for (const name of process.argv.slice(2)) {
  for await (const line of createInterface(createReadStream(name))) JSON.parse(line);
}
