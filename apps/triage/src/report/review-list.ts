import { html } from "hono/html";
import { plainText } from "../text/plain-text.ts";
import type { UncertainMail } from "./find-uncertain.ts";

/** Shows the mails that a person should look at. */
export function reviewList(mails: readonly UncertainMail[]) {
  if (mails.length === 0) return html`<p>Nothing uncertain.</p>`;
  return html`<div class="review">
    <table>
      <thead>
        <tr>
          <th>Why</th>
          <th>Date</th>
          <th>From</th>
          <th>Subject</th>
        </tr>
      </thead>
      <tbody>
        ${mails.map(reviewRow)}
      </tbody>
    </table>
  </div>`;
}

function reviewRow({ record, reasons }: UncertainMail) {
  return html`<tr>
    <td>${reasons.map((reason) => html`<span class="why">${plainText(reason)}</span>`)}</td>
    <td>${plainText(record.date)}</td>
    <td>${plainText(record.from)}</td>
    <td>${plainText(record.subject)}</td>
  </tr>`;
}
