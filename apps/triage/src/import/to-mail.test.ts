import { expect, test } from "vitest";
import { toMail } from "./to-mail.ts";

const extra = { attachments: [], listId: "", authenticationResults: "" };
const empty = {
  id: "1",
  date: null,
  received: null,
  from: "",
  subject: "",
  text: "",
  labels: null,
  extra,
};
const arrived = "2026-03-02";
const found = { arrived, source: { file: "a.mbox", offset: 7 } };
const toSnippet = (text: string) => toMail({ ...empty, text }, found).snippet;

test.each([
  ["Card 4111 1111 1111 1111 was charged.", "Card was charged."],
  ["Card **** **** **** 1234 was charged.", "Card was charged."],
  ["Your card ending in 1234 was charged.", "Your card ending in was charged."],
  ["Order #123-4567890-1234567 has shipped.", "Order # has shipped."],
  ["Order number: AB12345 has shipped.", "Order number: has shipped."],
  ["Mastercard ...4242 was charged.", "Mastercard was charged."],
  ["Konto …4242 und Visa *2026", "Konto und Visa"],
  ["Paid with *1234 today", "Paid with today"],
  ["Your card (card no: 4242) expires", "Your card (card no: ) expires"],
  ["Kartennummer 4242, card #4242, card number is 4242", "Kartennummer , card #, card number is"],
  ["card 4111.1111.1111.1111 was charged", "card was charged"],
  ["ORDER-12345 has shipped", "ORDER- has shipped"],
  ["Auftrag Nr. 99887 und Auftragsnummer: 99887", "Auftrag Nr. und Auftragsnummer:"],
  ["Pedido 12345678 enviado", "Pedido enviado"],
  ["Commande n° 12345 expédiée", "Commande n° expédiée"],
  ["Your order number is 77.", "Your order number is ."],
  ["Order #77, order no. 12, invoice id: A7", "Order #, order no. , invoice id:"],
  ["Rechnung 2026-00123 vom 02.11.2026", "Rechnung vom 02.11.2026"],
  ["Order no 123456 has shipped.", "Order no has shipped."],
  [
    "In 2026 we order 12 eggs, call +49 30 1234567.",
    "In 2026 we order 12 eggs, call +49 30 1234567.",
  ],
  ["Order confirmation for you", "Order confirmation for you"],
])("cuts fragments of numbers: %j", (text, snippet) => {
  expect(toSnippet(text)).toBe(snippet);
});

test.each([
  "Order by 12:30 on 2026-11-02 for $24.99.",
  "Order confirmation 2026 and invoice 2026-11-02",
  "Invoice 1250.00 EUR, order 1500 €, Rechnung 1500 EUR",
  "Auftrag vom 02.11.2026, Commande du 12 mars 2026, Pedido a las 10:30",
  "Fill in the order: no 24 hours, no 15% off",
  "*2026 prices apply, and 5*1234 is 6170",
  "Your account ... 2026 was a year, your account...2026 too",
  "Visa rules of 2026, gift card x 50, the card in 2027",
  "From 192.168.100.200 am 05.01.2026 10.30.15 Uhr",
  "In order 2 of 3, we ordered 1500 units in 1999",
])("what is no number of a card or an order stays: %j", (text) => {
  expect(toSnippet(text)).toBe(text);
});

test("a record has no more of a long header or text than is read", () => {
  const text = `${" ".repeat(2000)}beyond`;
  const long = "x".repeat(5000);
  expect(toMail({ ...empty, from: long, subject: long, text }, found)).toEqual({
    id: "1",
    date: "2026-03-02",
    from: "x".repeat(1000),
    subject: "x".repeat(1000),
    snippet: "",
    source: found.source,
  });
});
