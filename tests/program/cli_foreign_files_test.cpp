// Files as other programs write them: other orders of axes, names, types and formats. Each wrong one gets the sentence
// that says how to read it, and that remedy works.
#include <string>

#include "tests/program/foreign_files.hpp"
#include "tests/program/recorded_answers.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_foreign_files_test {
namespace {

TEST_CASE("tensors under other names are told the option that names them", "[unit]") {
  solve(dense(12));
  make("rename(\"o\", \"output\")");
  json const silent = report("verify file.safetensors");
  CHECK(silent["verdict"] == "undecided");
  CHECK(silent["undecided_because"] == "the file has no o (it has 'output'): --names o=output");
  check_certified(" --names o=output");
  outcome const screen = shell(ATTEST_PROGRAM " verify file.safetensors");
  CHECK(has(screen.out, "ignored        output, which is 'o' here: --names o=output"));
  make(
      "for old, new in ((\"q\", \"query\"), (\"k\", \"key\"), (\"v\", \"value\"), (\"o\", \"output\")): "
      "rename(old, \"layer0.\" + new)");
  check_refused_file(": --names q=query,k=key,v=value,o=output");
  check_certified(" --names q=query,k=key,v=value,o=output");
  make("rename(\"q\", \"query\")");
  check_refused_file("q: is missing beside 'k', 'v'; the file has other names of its tensors: --names q=query");
  // A whole name with a dot is one tensor.
  make("rename(\"o\", \"model.layers.0.attn.out\")");
  check_certified(" --names o=model.layers.0.attn.out");
  make("rename(\"o\", \"output\")");
  check_refused("", {{"verify file.safetensors --names o=outputs",
                      "--names: no tensor of the file is called 'outputs', did you mean 'output'?"},
                     {"verify file.safetensors --names q=output", "--names: the file has both 'q' and 'output'"},
                     {"verify file.safetensors --names output", "--names: 'output' is not ROLE=NAME, such as o=output"},
                     {"verify file.safetensors --names oo=output",
                      "--names: no tensor of a problem is called 'oo', did you mean 'o'?"}});
}

TEST_CASE("the names hold for both files of a verification", "[unit]") {
  solve(dense(12));
  make("t.pop(\"o\"); rename(\"q\", \"query\")");
  shell("mv file.safetensors queries.safetensors");
  make("for name in \"qkv\": t.pop(name)\nrename(\"o\", \"output\")");
  CHECK(attest("verify queries.safetensors file.safetensors --names q=query,o=output").status == 0);
  json const found = report("verify queries.safetensors file.safetensors --names q=query");
  CHECK(found["undecided_because"] == "the file has no o (it has 'output'): --names o=output");
}

TEST_CASE("a file without o says how to give it one", "[unit]") {
  solve(dense(12));
  make("t.pop(\"o\")");
  json const found = report("verify file.safetensors");
  CHECK(found["verdict"] == "undecided");
  CHECK(found["undecided_because"] ==
        "the file has no o: store the kernel's answer as o, or name a second file that has it");
  solve(dense(12));
  make("for name in \"qkv\": t[\"other.\" + name] = t[name]");
  json const some = report("verify file.safetensors");
  CHECK(some["verdict"] == "undecided");
  CHECK(some["undecided_because"] ==
        "this input was not answered: other; there the file has no o: store the kernel's answer as o, or name a "
        "second file that has it");
}

TEST_CASE("offsets and lengths under the names of libraries are told their option", "[unit]") {
  solve(
      "meta[\"attest.layout\"] = \"thd\"\nt[\"q\"] = numbers([7, 4, 4], 3)\n"
      "t[\"k\"], t[\"v\"] = [numbers([9, 4, 4], s) for s in (5, 7)]\n"
      "t[\"q_offsets\"], t[\"k_offsets\"] = ints(0, 3, 7), ints(0, 5, 9)");
  make("rename(\"q_offsets\", \"cu_seqlens_q\"); rename(\"k_offsets\", \"cu_seqlens_k\")");
  std::string const names = " --names q_offsets=cu_seqlens_q,k_offsets=cu_seqlens_k";
  check_refused_file("other names of its tensors:" + names);
  check_refused_file("as [rows, h, d] the shapes fit: --layout thd", names);
  check_certified(names + " --layout thd");
  solve(dense(12) + "\nt[\"k_lengths\"] = ints(7, 12)");
  make("rename(\"k_lengths\", \"seqused_k\")");
  json const found = report("verify file.safetensors");
  CHECK(found["verdict"] == "refuted");
  CHECK(has(found["observations"].dump(), "seqused_k, which is 'k_lengths' here: --names k_lengths=seqused_k"));
  check_certified(" --names k_lengths=seqused_k");
}

TEST_CASE("metadata of other programs are told their option, until it is given", "[unit]") {
  solve(dense(12), " --right 0 --align bottom-right");
  make("meta[\"is_causal\"] = \"True\"");
  outcome const causal = shell(ATTEST_PROGRAM " verify file.safetensors --findings ''");
  CHECK(causal.status == 1);
  CHECK(has(causal.out, "ignored        metadata 'is_causal', which is 'right: 0' here: --causal top-left or"));
  check_certified(" --causal bottom-right");
  CHECK_FALSE(has(shell(ATTEST_PROGRAM " verify file.safetensors --causal bottom-right").out, "ignored"));
  make("meta[\"is_causal\"] = \"False\"");
  CHECK_FALSE(has(shell(ATTEST_PROGRAM " verify file.safetensors --findings ''").out, "--causal"));
  check_refused("", {{"verify file.safetensors --causal bottom-right --align top-left",
                      "--causal: says --right, --align and --diagonal: leave out --align"}});
  solve(dense(12), " --scale 0.25");
  make("meta[\"softmax_scale\"] = \"0.75\"");
  CHECK(has(shell(ATTEST_PROGRAM " verify file.safetensors --findings ''").out,
            "metadata 'softmax_scale', which is 'scale' here: --scale 0.75"));
  make("meta[\"layout\"] = \"bnhd\"");
  CHECK(has(shell(ATTEST_PROGRAM " verify file.safetensors --findings ''").out,
            "metadata 'layout', which is 'attest.layout' here: --layout bnhd"));
}

TEST_CASE("--causal is a band with its corner, whatever the file says", "[unit]") {
  for (std::string const corner : {"top-left", "bottom-right"}) {
    solve(dense(12), " --right 0 --align " + corner);
    make("meta[\"diagonal\"] = \"3\"");
    check_certified(" --causal " + corner);
    CHECK(attest("verify file.safetensors --findings '' --causal " +
                 std::string(corner == "top-left" ? "bottom-right" : "top-left"))
              .status == 1);
  }
}

TEST_CASE("outputs of another type or shape are told what to store", "[unit]") {
  solve(dense(12));
  make(
      "x = t[\"o\"]; t[\"o\"] = [\"F16\", x[1], struct.pack(\"<%de\" % (len(x[2]) // 4), "
      "*struct.unpack(\"<%df\" % (len(x[2]) // 4), x[2]))]");
  CHECK(has(finding_in(),
            "element type is f16, expected f32; o has the type of its inputs: store q, k and v in F16 if "
            "the kernel read them so, or o before it was rounded to F16"));
  make("t[\"lse\"] = numbers([2, 4, 32], 3)");
  CHECK(has(finding_in(),
            "shape is [2, 4, 32], expected [2, 4, 8]; it is padded to a multiple of 32: store "
            "lse[..., :8]"));
  make(
      "x = t[\"o\"]; t[\"o\"] = [\"F64\", x[1], struct.pack(\"<%dd\" % (len(x[2]) // 4), "
      "*struct.unpack(\"<%df\" % (len(x[2]) // 4), x[2]))]");
  CHECK(has(finding_in(), "o has the type of its inputs: store it in F32"));
}

TEST_CASE("keys and values that are stored once for each query head are told to be", "[unit]") {
  solve("t[\"q\"] = numbers([2, 4, 8, 4], 3)\nt[\"k\"], t[\"v\"] = [numbers([2, 2, 12, 4], s) for s in (5, 7)]");
  make(
      "for name in \"kv\": t[name] = [\"F32\", [2, 4, 12, 4], "
      "b\"\".join(t[name][2][at:at + 384] * 2 for at in (0, 384))]");
  CHECK(has(finding_in(),
            "the heads of k and v are the first 2 again and again, and with these alone every element is "
            "right: store them as the kernel read them"));
}

TEST_CASE("files of other formats are named, with the function that writes safetensors", "[unit]") {
  write("foreign.py", script);
  shell("rm -f inputs.safetensors answers.safetensors");
  make(
      "t = {\"q\": ints(1)}\n"
      "with zipfile.ZipFile(\"zip.pt\", \"w\") as z: z.writestr(\"archive/data.pkl\", b\"x\" * 100)\n"
      "with zipfile.ZipFile(\"a.npz\", \"w\") as z: z.writestr(\"q.npy\", b\"x\" * 100)\n"
      "open(\"old.pt\", \"wb\").write(pickle.dumps([1.5] * 99, 2))\n"
      "open(\"a.npy\", \"wb\").write(bytes([147]) + b\"NUMPY\" + bytes([1, 0, 118, 0]) + b\"{}\" * 99)");
  for (std::string const name : {"zip.pt", "old.pt"})
    check_refused("verify ", {{name.c_str(), "is a PyTorch pickle: write it with safetensors.torch.save_file"}});
  for (std::string const name : {"a.npz", "a.npy"})
    check_refused("verify ", {{name.c_str(), "is a NumPy file: write it with safetensors.numpy.save_file"}});
}

TEST_CASE("solve, reference and explain read a file in these words, too", "[unit]") {
  solve(dense(12), " --right 0 --align bottom-right");
  make("all_axes(0, 2, 1, 3); rename(\"q\", \"query\")");
  std::string const words = " --layout bshd --names q=query --causal bottom-right";
  for (std::string const command : {"solve file.safetensors --round f32 --out read",
                                    "reference file.safetensors --out read", "explain file.safetensors --row 0,0,1"}) {
    outcome const ran = attest(command + words);
    INFO(command << ran.err);
    CHECK(ran.status == 0);
    CHECK(has(attest(command).err, "--names q=query"));
  }
  // What reference writes has the order of the file, and is its truth.
  make("all_axes(0, 2, 1, 3); t[\"o\"] = load(\"read\")[\"o\"]");
  check_certified(" --layout bshd --causal bottom-right");
}

TEST_CASE("an audit reads the file of --replay in these words, and asks no kernel for them", "[unit]") {
  solve(dense(12));
  make("all_axes(0, 2, 1, 3)");
  CHECK(attest("audit --replay file.safetensors --layout bshd").status == 0);
  check_refused("", {{"audit --layout bshd", "say how the file of --replay is read"}});
}

}  // namespace
}  // namespace attest::tests::cli_foreign_files_test
