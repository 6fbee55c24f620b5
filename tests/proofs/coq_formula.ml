(* Evaluates proofs/coq/formula.v, extracted, on the rows of coq_formula_test.py.

   A row is words: five lists (numbers, counts, flags, numbers, keys of eight numbers), then the columns. A list begins
   with its length. A number m*2^e is two words, m in binary and e in decimal. An answer is two lines of such numbers: from
   below and from above. *)
open Formula

let word () = match Scanf.scanf " %s" Fun.id with "" -> raise End_of_file | text -> text
let rec nat n = if n = 0 then O else S (nat (n - 1))

let positive digits =
  let at = ref XH in
  String.iteri (fun i c -> if i > 0 then at := if c = '1' then XI !at else XO !at) digits;
  !at

let signed text digits_of =
  if text = "0" then Z0
  else if text.[0] = '-' then Zneg (positive (digits_of (String.sub text 1 (String.length text - 1))))
  else Zpos (positive (digits_of text))

let binary text =
  let rec digits n = if n = 0 then "" else digits (n / 2) ^ string_of_int (n mod 2) in
  digits (int_of_string text)

let number () : num = let m = word () in let e = word () in Obj.magic (signed m Fun.id, signed e binary)

let list item = let n = int_of_string (word ()) in List.init n (fun _ -> item ())

let written (x : num) =
  let rec digits p rest = match p with XH -> "1" :: rest | XO p -> digits p ("0" :: rest) | XI p -> digits p ("1" :: rest) in
  let whole = function Z0 -> "0" | Zpos p -> String.concat "" (digits p []) | Zneg p -> "-" ^ String.concat "" (digits p []) in
  let m, e = (Obj.magic x : z * z) in
  whole m ^ " " ^ whole e

let () =
  try
    while true do
      let ns = list number in
      let cs = list (fun () -> nat (int_of_string (word ()))) in
      let bs = list (fun () -> word () = "1") in
      let fs = list number in
      let ks = list (fun () -> list number) in
      let columns = list (fun () -> let y = list number in let mid = number () in ((y, mid), number ())) in
      List.iter
        (fun up ->
          let ((scope, terms), weights), bounds = evaluated_lists ns cs bs fs ks columns up in
          print_endline (String.concat " " ((if scope then "1" else "0") :: List.map written (terms @ weights @ bounds))))
        [ false; true ]
    done
  with End_of_file -> ()
