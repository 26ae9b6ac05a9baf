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
  ["Card 378282246310005 and 3782 822463 10005", "Card and"],
  ["Card xx1234 and ••4242", "Card and"],
  ["Ihre Bestellnummer lautet 123-4567890", "Ihre Bestellnummer lautet"],
  ["ordrenummer 445566, Ordine n. 4455", "ordrenummer , Ordine n."],
  ["Номер заказа 445566, Заказ № 445566", "Номер заказа , Заказ №"],
  ["注文番号：445566", "注文番号："],
  ["zamówienie nr 445566", "zamówienie nr"],
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
  "Check-in 2026-11-28 2026-12-01 Check-out",
  "Call +49 30 1234567 8901 or 0044 1632 960001",
  "1234 5678 9012 3456 is no card, nor is 4111111111111112",
  "## 2026 in words, ** 2026 ** and XX 2026",
  "Booking 02-11-2026, order 2-Nov-2026, to order 1-800-555-0100 is free",
  "Phone 490154203237518, years 2019 2021 2023 2024, row 1111 2222 3333 4444",
  "Wij bestelden 20000 stuks, zamówienie 2026",
  "Totals 1200 1300 1400 1500 and 10.01.2026 11.02.2026",
])("what is no number of a card or an order stays: %j", (text) => {
  expect(toSnippet(text)).toBe(text);
});

test.each([
  ["zwnj and nbsp", "\u200c\u00a0"],
  ["joiners", "\u200d"],
  ["grapheme joiners", "\u034f "],
  ["braille blanks", "\u2800"],
  ["Hangul fillers", "\u3164"],
  ["soft hyphens", "\u00ad "],
  ["entities", "&zwnj;&nbsp;"],
])("padding of %s costs no place", (_, pad) => {
  expect(toSnippet(`Statement${pad.repeat(800)} Pay today.`)).toBe("Statement Pay today.");
});

test("joiners in a word stay, and those of emojis", () => {
  const words = "می\u200cخواهم 👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥";
  expect(toSnippet(words)).toBe(words);
});

const tracker = `https://track.example.com/c/${"aB3".repeat(30)}`;

test.each([
  ["----------\nHello -- you", "Hello -- you"],
  ["=====\n*** \n_____ Hello", "Hello"],
  ["──────── Hello", "Hello"],
  [`${tracker} Hello`, "Hello"],
  [`View it: ${tracker.slice(0, 50)}`, `View it: ${tracker.slice(0, 50)}`],
  [`(${tracker})\n-----\n${tracker} Hello`, "Hello"],
  [`[${tracker}]Hello`, "Hello"],
  ["* * * * *\n- - - -\n▬▬▬▬ Hello", "Hello"],
  ["-1 is a number", "-1 is a number"],
  ["https://x.example/short", "https://x.example/short"],
  ["-----", "-----"],
])("the snippet of %j is %j", (text, snippet) => {
  expect(toSnippet(text)).toBe(snippet);
});

test.each(["-", "https://", "4111 ", "* ", "card ", "\u200c", "(", "- https://x "])(
  "a row of %j takes linear time",
  (piece) => {
    expect(toSnippet(piece.repeat(100_000)).length).toBeLessThanOrEqual(200);
  },
);

test("a record has no more of a long header or text than is read", () => {
  const text = `${" ".repeat(16_000)}beyond`;
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
