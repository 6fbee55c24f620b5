// The table of production shapes. Sizes are {b, hq, hk, n, m, d, dv}.
//
// Read at these commits:
//   Lightning-AI/litgpt 26857050, google/gemma_pytorch 014acb7, openai/gpt-oss 7b58334, deepseek-ai/DeepSeek-V3
//   9b4e978, deepseek-ai/FlashMLA 9241ae3, openai/whisper c0d2f62, openai/CLIP d05afc4, google-research/bert eedf571,
//   google-research/vision_transformer c6de1e5, google-research/t5x cc342d4, google-research/big_vision 0127fb6,
//   facebookresearch/dinov2 b8931f7, facebookresearch/xformers ca6d2aa, microsoft/Swin-Transformer f82860b,
//   CompVis/stable-diffusion 21f890f, Stability-AI/generative-models 0ad7de9, black-forest-labs/flux 802fb47,
//   karpathy/nanoGPT 3adf61e, bigscience-workshop/bigscience 9e64ede, mosaicml/llm-foundry 8c8dd48,
//   meta-llama/llama-models a9c89c4, ggml-org/llama.cpp 001d906, vllm-project/vllm 01230b4 (scheduler.py) and 0001b99
//   (test_flash_attn.py), huggingface/transformers 008e574 (gpt_neox), 001f85b (mistral, modernbert), 018c8e0
//   (qwen2_vl), 052b1dc (longformer).
#include "audit/cases/forms/production_shapes.hpp"

namespace attest::audit {
namespace production_table {

using enum phase;
using enum problem::element_type;
using bias_kind::alibi;
using bias_kind::relative;

constexpr masking all_keys{};
constexpr masking causal{masking_kind::causal};
constexpr masking causal_window(std::int64_t keys) { return {masking_kind::causal_window, keys}; }
constexpr masking window(std::int64_t each_side) { return {masking_kind::window, each_side}; }
constexpr masking padding(std::int64_t shortest) { return {masking_kind::padding, shortest}; }
constexpr masking causal_padding(std::int64_t shortest) { return {masking_kind::causal_padding, shortest}; }
constexpr masking prefix(std::int64_t keys) { return {masking_kind::prefix, keys}; }

/// The scale of DeepSeek's layers beyond 4096 positions: (0.1·mscale·ln 40 + 1)²/√192, 192 = 128 + 64 columns before
/// the key projection is absorbed. Source: deepseek-ai/DeepSeek-V3:inference/model.py, MLA.softmax_scale
constexpr double deepseek_scale = 0.1352337788608801;        // mscale 1
constexpr double deepseek_lite_scale = 0.11472138679292612;  // mscale 0.707
/// 1/√(5376/32). Source: google/gemma_pytorch:gemma/config.py, get_config_for_27b_v3, query_pre_attn_scalar
constexpr double gemma_3_27b_scale = 0.07715167498104596;

constexpr production_shape row(std::string_view name, std::string_view family, phase during, problem::sizes const& size,
                               problem::element_type type, masking const& mask, std::string_view source,
                               layer_features const& features = {}) {
  return {name, family, during, size, type, mask, source, features};
}

constexpr production_shape rows[]{
    // Llama
    row("llama-2-7b-prefill", "Llama", prefill, {1, 32, 32, 4096, 4096, 128, 128}, f16, causal,
        "Lightning-AI/litgpt:litgpt/config.py Llama-2-7b: n_head, n_embd, block_size"),
    row("llama-3-8b-prefill", "Llama", prefill, {1, 32, 8, 8192, 8192, 128, 128}, bf16, causal,
        "Lightning-AI/litgpt:litgpt/config.py Llama-3-8B: n_head, n_query_groups, block_size"),
    row("llama-3-8b-padded-prompts", "Llama", prefill, {32, 32, 8, 2048, 2048, 128, 128}, bf16, causal_padding(64),
        "meta-llama/llama-models:models/llama3/args.py, max_batch_size, max_seq_len; heads of litgpt's "
        "Llama-3-8B"),
    row("llama-3-8b-decode-4096", "Llama", decode, {1, 32, 8, 1, 4096, 128, 128}, bf16, all_keys,
        "Lightning-AI/litgpt:litgpt/config.py Llama-3-8B: n_head, n_query_groups"),
    row("llama-3-8b-mixed-batch", "Llama", chunked_prefill, {3, 32, 8, 129, 1328, 128, 128}, bf16, causal_padding(18),
        "vllm-project/vllm:tests/kernels/attention/test_flash_attn.py, seq_lens; heads of litgpt's Llama-3-8B",
        {.needs = {.packed = true, .paged = true}}),
    row("llama-3-8b-speculative-4", "Llama", speculative, {1, 32, 8, 4, 4096, 128, 128}, bf16, causal,
        "ggml-org/llama.cpp:common/common.h, common_params_speculative_draft.n_max = 3; heads of litgpt's "
        "Llama-3-8B"),
    row("llama-3-70b-decode-batch-128", "Llama", decode, {128, 64, 8, 1, 1024, 128, 128}, bf16, padding(1),
        "vllm-project/vllm:vllm/config/scheduler.py, DEFAULT_MAX_NUM_SEQS; heads of litgpt's Llama-3-70B"),
    row("llama-3-70b-decode-paged", "Llama", decode, {128, 64, 8, 1, 4096, 128, 128}, bf16, padding(1),
        "vllm-project/vllm:vllm/config/scheduler.py, DEFAULT_MAX_NUM_SEQS; heads of litgpt's Llama-3-70B",
        {.needs = {.paged = true}}),
    row("llama-3-70b-shard-prefill", "Llama", prefill, {1, 8, 1, 8192, 8192, 128, 128}, bf16, causal,
        "Lightning-AI/litgpt:litgpt/config.py Llama-3-70B: n_head, n_query_groups, each over 8 devices"),
    row("llama-3-70b-speculative-6", "Llama", speculative, {8, 64, 8, 6, 2048, 128, 128}, bf16, causal,
        "vllm-project/vllm:docs/features/spec_decode.md (v0.10.0), num_speculative_tokens = 5; heads of litgpt's "
        "Llama-3-70B"),
    row("llama-3.1-405b-chunk", "Llama", chunked_prefill, {1, 128, 8, 512, 32768, 128, 128}, bf16, causal,
        "ggml-org/llama.cpp:common/common.h, common_params.n_ubatch; heads of litgpt's Llama-3.1-405B"),
    row("llama-3.1-405b-shard-decode-batch-256", "Llama", decode, {256, 16, 1, 1, 256, 128, 128}, bf16, padding(1),
        "facebookresearch/xformers:xformers/benchmarks/benchmark_attn_decoding.py, CASES with Mkv = 256"),
    row("llama-3.2-1b-decode-first-token", "Llama", decode, {1, 32, 8, 1, 1, 64, 64}, bf16, all_keys,
        "Lightning-AI/litgpt:litgpt/config.py Llama-3.2-1B: n_head, n_query_groups, n_embd"),
    row("llama-3.2-1b-decode-128", "Llama", decode, {1, 32, 8, 1, 128, 64, 64}, bf16, all_keys,
        "Lightning-AI/litgpt:litgpt/config.py Llama-3.2-1B: n_head, n_query_groups, n_embd"),
    row("llama-3.2-3b-decode-32768", "Llama", decode, {1, 24, 8, 1, 32768, 128, 128}, bf16, all_keys,
        "Lightning-AI/litgpt:litgpt/config.py Llama-3.2-3B: n_head, n_query_groups, n_embd, block_size"),
    row("open-llama-3b-prefill", "Llama", prefill, {1, 32, 32, 2048, 2048, 100, 100}, f16, causal,
        "Lightning-AI/litgpt:litgpt/config.py open_llama_3b: n_head (default), n_embd, block_size"),
    // Qwen
    row("qwen-2.5-0.5b-prefill", "Qwen", prefill, {1, 14, 2, 2048, 2048, 64, 64}, bf16, causal,
        "Lightning-AI/litgpt:litgpt/config.py Qwen2.5-0.5B: n_head, n_query_groups, n_embd"),
    row("qwen-2.5-7b-prefill", "Qwen", prefill, {1, 28, 4, 4096, 4096, 128, 128}, bf16, causal,
        "Lightning-AI/litgpt:litgpt/config.py Qwen2.5-7B: n_head, n_query_groups, n_embd"),
    row("qwen-2.5-7b-1m-chunk", "Qwen", chunked_prefill, {1, 28, 4, 2048, 32768, 128, 128}, bf16, causal,
        "vllm-project/vllm:vllm/config/scheduler.py, DEFAULT_MAX_NUM_BATCHED_TOKENS; heads of litgpt's "
        "Qwen2.5-7B-Instruct-1M"),
    row("qwen-2.5-14b-decode-batch-16", "Qwen", decode, {16, 40, 8, 1, 2048, 128, 128}, bf16, padding(1),
        "Lightning-AI/litgpt:litgpt/config.py Qwen2.5-14B: n_head, n_query_groups, n_embd"),
    row("qwen-3-0.6b-prefill-batch-4", "Qwen", prefill, {4, 16, 8, 1024, 1024, 128, 128}, bf16, causal,
        "Lightning-AI/litgpt:litgpt/config.py Qwen3-0.6B: n_head, n_query_groups, head_size"),
    row("qwen-3-30b-a3b-decode-32768", "Qwen", decode, {1, 32, 4, 1, 32768, 128, 128}, bf16, all_keys,
        "Lightning-AI/litgpt:litgpt/config.py Qwen3-30B-A3B: n_head, n_query_groups, head_size"),
    row("qwen-3-235b-a22b-speculative-5", "Qwen", speculative, {1, 64, 4, 5, 8192, 128, 128}, bf16, causal,
        "Chen et al. 2023, arXiv:2302.01318, K = 4 drafted tokens; heads of litgpt's Qwen3-235B-A22B"),
    row("qwen-2-vl-image-448", "Qwen", encoder, {1, 16, 16, 1024, 1024, 80, 80}, bf16, all_keys,
        "huggingface/transformers:src/transformers/models/qwen2_vl/configuration_qwen2_vl.py, embed_dim, num_heads, "
        "patch_size"),
    // Mistral
    row("mistral-7b-prefill", "Mistral", prefill, {1, 32, 8, 8192, 8192, 128, 128}, bf16, causal_window(4096),
        "huggingface/transformers:src/transformers/models/mistral/configuration_mistral.py, num_key_value_heads, "
        "sliding_window, max_position_embeddings"),
    row("mistral-7b-decode-8192", "Mistral", decode, {1, 32, 8, 1, 8192, 128, 128}, bf16, causal_window(4096),
        "huggingface/transformers:src/transformers/models/mistral/configuration_mistral.py, num_key_value_heads, "
        "sliding_window, max_position_embeddings"),
    row("mistral-7b-chunk", "Mistral", chunked_prefill, {1, 32, 8, 512, 6144, 128, 128}, bf16, causal_window(4096),
        "ggml-org/llama.cpp:common/common.h, common_params.n_ubatch; heads and window of litgpt's Mistral-7B-v0.1"),
    row("mixtral-8x22b-prefill", "Mistral", prefill, {1, 48, 8, 4096, 4096, 128, 128}, bf16, causal,
        "Lightning-AI/litgpt:litgpt/config.py Mixtral-8x22B-v0.1: n_head, n_query_groups, n_embd"),
    row("mistral-large-decode-batch-4", "Mistral", decode, {4, 96, 8, 1, 4096, 128, 128}, bf16, padding(1),
        "Lightning-AI/litgpt:litgpt/config.py Mistral-Large-Instruct-2407: n_head, n_query_groups, n_embd"),
    // Gemma
    row("gemma-2b-prefill", "Gemma", prefill, {1, 8, 1, 8192, 8192, 256, 256}, bf16, causal,
        "google/gemma_pytorch:gemma/config.py, get_config_for_2b: num_attention_heads, num_key_value_heads, head_dim"),
    row("gemma-7b-decode-4096", "Gemma", decode, {1, 16, 16, 1, 4096, 256, 256}, bf16, all_keys,
        "google/gemma_pytorch:gemma/config.py, get_config_for_7b: the defaults of GemmaConfig"),
    row("gemma-2-2b-local", "Gemma", prefill, {1, 8, 4, 8192, 8192, 256, 256}, bf16, causal_window(4096),
        "google/gemma_pytorch:gemma/config.py, get_config_for_2b_v2: head_dim, attn_logit_softcapping, "
        "sliding_window_size",
        {.softcap = 50}),
    row("gemma-2-9b-global", "Gemma", prefill, {1, 16, 8, 4096, 4096, 256, 256}, bf16, causal,
        "google/gemma_pytorch:gemma/config.py, get_config_for_9b: head_dim, attn_logit_softcapping", {.softcap = 50}),
    row("gemma-2-9b-decode-8192", "Gemma", decode, {1, 16, 8, 1, 8192, 256, 256}, bf16, causal_window(4096),
        "google/gemma_pytorch:gemma/config.py, get_config_for_9b: attn_logit_softcapping, sliding_window_size",
        {.softcap = 50}),
    row("gemma-2-27b-global", "Gemma", prefill, {1, 32, 16, 4096, 4096, 128, 128}, bf16, causal,
        "google/gemma_pytorch:gemma/config.py, get_config_for_27b: attn_logit_softcapping, query_pre_attn_scalar = 144",
        {.scale = 1.0 / 12, .softcap = 50}),
    row("gemma-3-1b-local", "Gemma", prefill, {1, 4, 1, 4096, 4096, 256, 256}, bf16, causal_window(512),
        "google/gemma_pytorch:gemma/config.py, get_config_for_1b: num_attention_heads, head_dim, sliding_window_size"),
    row("gemma-3-27b-decode-32768", "Gemma", decode, {1, 32, 16, 1, 32768, 128, 128}, bf16, all_keys,
        "google/gemma_pytorch:gemma/config.py, get_config_for_27b_v3: query_pre_attn_scalar = 5376/32",
        {.scale = gemma_3_27b_scale}),
    row("paligemma-prefix", "Gemma", prefill, {32, 8, 1, 384, 384, 256, 256}, bf16, prefix(256),
        "google-research/big_vision:big_vision/configs/proj/paligemma/transfers/forkme.py, res = 224 in patches of 14, "
        "text_len, batch_size; big_vision/models/ppp/gemma.py, gemma_2b"),
    // GPT-OSS
    row("gpt-oss-local", "GPT-OSS", prefill, {1, 64, 8, 4096, 4096, 64, 64}, bf16, causal_window(128),
        "openai/gpt-oss:gpt_oss/torch/model.py, ModelConfig.sliding_window, initial_context_length, "
        "AttentionBlock.sinks",
        {.needs = {.sinks = true}}),
    row("gpt-oss-global", "GPT-OSS", prefill, {1, 64, 8, 4096, 4096, 64, 64}, bf16, causal,
        "openai/gpt-oss:gpt_oss/torch/model.py, ModelConfig.num_attention_heads, AttentionBlock.sinks",
        {.needs = {.sinks = true}}),
    row("gpt-oss-decode-32768", "GPT-OSS", decode, {1, 64, 8, 1, 32768, 64, 64}, bf16, all_keys,
        "openai/gpt-oss:gpt_oss/torch/model.py, ModelConfig.num_key_value_heads, head_dim, AttentionBlock.sinks",
        {.needs = {.sinks = true}}),
    row("gpt-oss-decode-paged", "GPT-OSS", decode, {64, 64, 8, 1, 4096, 64, 64}, bf16, padding(1),
        "openai/gpt-oss:gpt_oss/torch/model.py, ModelConfig.num_attention_heads; a serving batch of 64",
        {.needs = {.sinks = true, .paged = true}}),
    // DeepSeek
    row("deepseek-v3-prefill", "DeepSeek", prefill, {1, 128, 128, 4096, 4096, 192, 128}, bf16, causal,
        "deepseek-ai/DeepSeek-V3:inference/configs/config_671B.json, n_heads, qk_nope_head_dim + qk_rope_head_dim, "
        "v_head_dim",
        {.scale = deepseek_scale}),
    row("deepseek-v2-lite-prefill", "DeepSeek", prefill, {1, 16, 16, 2048, 2048, 192, 128}, bf16, causal,
        "deepseek-ai/DeepSeek-V3:inference/configs/config_16B.json, n_heads, v_head_dim, mscale",
        {.scale = deepseek_lite_scale}),
    row("deepseek-v3-decode-4096", "DeepSeek", decode, {1, 128, 1, 1, 4096, 576, 512}, bf16, all_keys,
        "deepseek-ai/DeepSeek-V3:inference/configs/config_671B.json, kv_lora_rank + qk_rope_head_dim",
        {.scale = deepseek_scale, .v_in_k = true}),
    row("deepseek-v3-decode-32768", "DeepSeek", decode, {1, 128, 1, 1, 32768, 576, 512}, bf16, all_keys,
        "deepseek-ai/FlashMLA:tests/test_flash_mla_dense_decoding.py, d, dv, s_k; scale of DeepSeek-V3",
        {.scale = deepseek_scale, .v_in_k = true}),
    row("deepseek-v3-shard-decode-batch-64", "DeepSeek", decode, {64, 16, 1, 1, 4096, 576, 512}, bf16, padding(1),
        "deepseek-ai/FlashMLA:tests/test_flash_mla_dense_decoding.py, b = 64, s_k; n_heads of config_671B.json over 8 "
        "devices",
        {.scale = deepseek_scale, .v_in_k = true}),
    row("deepseek-v3-speculative-4", "DeepSeek", speculative, {2, 128, 1, 4, 4096, 576, 512}, bf16, causal,
        "deepseek-ai/FlashMLA:tests/test_flash_mla_dense_decoding.py, s_q = 4, b = 2; scale of DeepSeek-V3",
        {.scale = deepseek_scale, .v_in_k = true}),
    row("deepseek-v3-decode-paged", "DeepSeek", speculative, {128, 128, 1, 2, 4096, 576, 512}, bf16, causal_padding(2),
        "deepseek-ai/FlashMLA:tests/test_flash_mla_dense_decoding.py, b = 128, s_q = 2, block_size = 64; scale of "
        "DeepSeek-V3",
        {.scale = deepseek_scale, .v_in_k = true, .needs = {.paged = true}}),
    // Phi
    row("phi-2-prefill", "Phi", prefill, {1, 32, 32, 2048, 2048, 80, 80}, f16, causal,
        "Lightning-AI/litgpt:litgpt/config.py phi-2: n_head (default), n_embd, block_size"),
    row("phi-2-decode-2048", "Phi", decode, {1, 32, 32, 1, 2048, 80, 80}, f16, all_keys,
        "Lightning-AI/litgpt:litgpt/config.py phi-2: n_head (default), n_embd, block_size"),
    row("phi-3-mini-prefill", "Phi", prefill, {1, 32, 32, 4096, 4096, 96, 96}, bf16, causal_window(2048),
        "Lightning-AI/litgpt:litgpt/config.py Phi-3-mini-4k-instruct: n_embd, block_size, sliding_window_size"),
    row("phi-3-mini-decode-batch-8", "Phi", decode, {8, 32, 32, 1, 1024, 96, 96}, bf16, padding(1),
        "Lightning-AI/litgpt:litgpt/config.py Phi-3-mini-4k-instruct: n_head (default), n_embd"),
    // Falcon
    row("falcon-7b-prefill", "Falcon", prefill, {1, 71, 1, 2048, 2048, 64, 64}, bf16, causal,
        "Lightning-AI/litgpt:litgpt/config.py falcon-7b: n_head, n_query_groups, n_embd, block_size"),
    row("falcon-7b-decode-batch-16", "Falcon", decode, {16, 71, 1, 1, 2048, 64, 64}, bf16, padding(1),
        "Lightning-AI/litgpt:litgpt/config.py falcon-7b: n_head, n_query_groups, n_embd"),
    row("falcon-40b-prefill", "Falcon", prefill, {1, 128, 8, 2048, 2048, 64, 64}, bf16, causal,
        "Lightning-AI/litgpt:litgpt/config.py falcon-40b: n_head, n_query_groups, n_embd, block_size"),
    row("falcon-180b-decode-2048", "Falcon", decode, {1, 232, 8, 1, 2048, 64, 64}, bf16, all_keys,
        "Lightning-AI/litgpt:litgpt/config.py falcon-180B: n_head, n_query_groups, n_embd, block_size"),
    // GPT
    row("gpt-2-xl-prefill-batch-8", "GPT", prefill, {8, 25, 25, 1024, 1024, 64, 64}, f32, causal,
        "karpathy/nanoGPT:config/eval_gpt2_xl.py, batch_size, n_head, n_embd; model.py, block_size"),
    row("gpt-neox-20b-prefill", "GPT", prefill, {1, 64, 64, 2048, 2048, 96, 96}, f16, causal,
        "huggingface/transformers:src/transformers/models/gpt_neox/configuration_gpt_neox.py, hidden_size, "
        "num_attention_heads"),
    // ALiBi
    row("bloom-176b-prefill", "ALiBi", prefill, {1, 112, 112, 2048, 2048, 128, 128}, bf16, causal,
        "bigscience-workshop/bigscience:train/tr11-176B-ml/tr11-176B-ml.slurm, NHIDDEN, NHEADS, SEQ_LEN",
        {.bias = alibi}),
    row("bloom-176b-decode-2048", "ALiBi", decode, {1, 112, 112, 1, 2048, 128, 128}, bf16, all_keys,
        "bigscience-workshop/bigscience:train/tr11-176B-ml/tr11-176B-ml.slurm, NHIDDEN, NHEADS, SEQ_LEN",
        {.bias = alibi}),
    row("mpt-7b-prefill-batch-8", "ALiBi", prefill, {8, 32, 32, 2048, 2048, 128, 128}, bf16, causal,
        "mosaicml/mpt-7b:config.json, d_model, n_heads, max_seq_len, attn_config.alibi; "
        "mosaicml/llm-foundry:scripts/train/yamls/pretrain/mpt-7b.yaml, device_eval_batch_size",
        {.bias = alibi}),
    // BERT
    row("bert-base-classify", "BERT", encoder, {32, 12, 12, 128, 128, 64, 64}, f32, padding(8),
        "google-research/bert:README.md, uncased_L-12_H-768_A-12, max_seq_length=128, train_batch_size=32"),
    row("bert-large-squad", "BERT", encoder, {8, 16, 16, 384, 384, 64, 64}, f16, padding(32),
        "google-research/bert:run_squad.py, max_seq_length, predict_batch_size; README.md, L-24_H-1024_A-16"),
    row("minilm-l6-embed", "BERT", encoder, {32, 12, 12, 256, 256, 32, 32}, f32, padding(4),
        "sentence-transformers/all-MiniLM-L6-v2:config.json, hidden_size, num_attention_heads; "
        "sentence_bert_config.json"),
    row("modernbert-base-local", "BERT", encoder, {1, 12, 12, 8192, 8192, 64, 64}, bf16, window(64),
        "huggingface/transformers:src/transformers/models/modernbert/configuration_modernbert.py, num_attention_heads, "
        "max_position_embeddings, sliding_window = local_attention/2"),
    row("modernbert-base-packed", "BERT", encoder, {16, 12, 12, 1024, 1024, 64, 64}, bf16, padding(16),
        "huggingface/transformers:src/transformers/models/modernbert/configuration_modernbert.py, num_attention_heads; "
        "sequences unpadded",
        {.needs = {.packed = true}}),
    row("longformer-base-local", "BERT", encoder, {1, 12, 12, 4096, 4096, 64, 64}, f32, window(256),
        "huggingface/transformers:src/transformers/models/longformer/configuration_longformer.py, attention_window/2 "
        "each side"),
    // ViT
    row("vit-b-16-image-224", "ViT", encoder, {32, 12, 12, 197, 197, 64, 64}, f32, all_keys,
        "google-research/vision_transformer:vit_jax/configs/models.py, get_b16_config: hidden_size, num_heads, "
        "(224/16)² patches and a class token"),
    row("vit-h-14-image-224", "ViT", encoder, {8, 16, 16, 257, 257, 80, 80}, bf16, all_keys,
        "google-research/vision_transformer:vit_jax/configs/models.py, get_h14_config: hidden_size, num_heads, "
        "(224/14)² patches and a class token"),
    row("vit-b-16-image-384", "ViT", encoder, {4, 12, 12, 577, 577, 64, 64}, f32, all_keys,
        "google-research/vision_transformer:vit_jax/configs/models.py, get_b16_config; README.md, res_384: (384/16)² "
        "patches and a class token"),
    row("vit-giant-image-224", "ViT", encoder, {16, 16, 16, 197, 197, 88, 88}, f16, all_keys,
        "facebookresearch/xformers:xformers/benchmarks/benchmark_mem_eff_attention.py, VISION_SHAPES, ViT-Giant"),
    row("dinov2-giant-image-518", "ViT", encoder, {1, 24, 24, 1370, 1370, 64, 64}, bf16, all_keys,
        "facebookresearch/dinov2:dinov2/models/vision_transformer.py, vit_giant2; hub/backbones.py, img_size = 518"),
    row("siglip-so400m-image-896", "ViT", encoder, {1, 16, 16, 4096, 4096, 72, 72}, bf16, all_keys,
        "google/gemma_pytorch:gemma/siglip_vision/config.py, image_size, num_attention_heads, head_dim"),
    row("swin-base-window-7", "ViT", encoder, {64, 4, 4, 49, 49, 32, 32}, f32, all_keys,
        "microsoft/Swin-Transformer:configs/swin/swin_base_patch4_window7_224.yaml, EMBED_DIM, NUM_HEADS, WINDOW_SIZE",
        {.bias = relative}),
    row("clip-text", "ViT", prefill, {64, 8, 8, 77, 77, 64, 64}, f16, causal,
        "openai/CLIP:clip/clip.py, context_length; clip/model.py, transformer_heads = width/64"),
    // Whisper
    row("whisper-large-encoder", "Whisper", encoder, {1, 20, 20, 1500, 1500, 64, 64}, f16, all_keys,
        "openai/whisper:whisper/model.py, ModelDimensions.n_audio_ctx, n_text_ctx; Radford et al. 2022, "
        "arXiv:2212.04356, table 1, Large"),
    row("whisper-large-self", "Whisper", prefill, {1, 20, 20, 448, 448, 64, 64}, f16, causal,
        "openai/whisper:whisper/model.py, ModelDimensions.n_audio_ctx, n_text_ctx; Radford et al. 2022, "
        "arXiv:2212.04356, table 1, Large"),
    row("whisper-large-cross", "Whisper", cross, {1, 20, 20, 448, 1500, 64, 64}, f16, all_keys,
        "openai/whisper:whisper/model.py, ModelDimensions.n_audio_ctx, n_text_ctx; Radford et al. 2022, "
        "arXiv:2212.04356, table 1, Large"),
    row("whisper-large-cross-decode-beams", "Whisper", cross, {5, 20, 20, 1, 1500, 64, 64}, f16, all_keys,
        "openai/whisper:whisper/transcribe.py, beam_size; whisper/model.py, n_audio_ctx; Radford et al. 2022, "
        "arXiv:2212.04356, table 1, Large"),
    // Stable Diffusion
    row("sd-1-self-64x64", "Stable Diffusion", encoder, {2, 8, 8, 4096, 4096, 40, 40}, f16, all_keys,
        "CompVis/stable-diffusion:configs/stable-diffusion/v1-inference.yaml, model_channels, channel_mult[0], "
        "num_heads; guided and unguided"),
    row("sd-1-self-32x32", "Stable Diffusion", encoder, {2, 8, 8, 1024, 1024, 80, 80}, f16, all_keys,
        "CompVis/stable-diffusion:configs/stable-diffusion/v1-inference.yaml, model_channels, channel_mult[1], "
        "num_heads; guided and unguided"),
    row("sd-1-self-16x16", "Stable Diffusion", encoder, {2, 8, 8, 256, 256, 160, 160}, f16, all_keys,
        "CompVis/stable-diffusion:configs/stable-diffusion/v1-inference.yaml, model_channels, channel_mult[2], "
        "num_heads; guided and unguided"),
    row("sd-1-cross-64x64", "Stable Diffusion", cross, {2, 8, 8, 4096, 77, 40, 40}, f16, all_keys,
        "CompVis/stable-diffusion:configs/stable-diffusion/v1-inference.yaml, num_heads, context_dim; "
        "ldm/modules/encoders/modules.py, max_length=77"),
    row("sd-1-cross-8x8", "Stable Diffusion", cross, {2, 8, 8, 64, 77, 160, 160}, f16, all_keys,
        "CompVis/stable-diffusion:configs/stable-diffusion/v1-inference.yaml, channel_mult[3], num_heads; "
        "ldm/modules/encoders/modules.py, max_length=77"),
    row("sd-1-decoder-64x64", "Stable Diffusion", encoder, {1, 1, 1, 4096, 4096, 512, 512}, f32, all_keys,
        "CompVis/stable-diffusion:configs/stable-diffusion/v1-inference.yaml, first_stage_config.ch_mult; "
        "ldm/modules/diffusionmodules/model.py, mid.attn_1"),
    row("sdxl-self-64x64", "Stable Diffusion", encoder, {2, 10, 10, 4096, 4096, 64, 64}, f16, all_keys,
        "Stability-AI/generative-models:configs/inference/sd_xl_base.yaml, model_channels, channel_mult[1], "
        "num_head_channels"),
    row("flux-joint-1024", "Stable Diffusion", encoder, {1, 24, 24, 4608, 4608, 128, 128}, bf16, all_keys,
        "black-forest-labs/flux:src/flux/util.py, hidden_size, num_heads; cli.py, max_length = 512 beside 64 × 64 "
        "patches"),
    // T5
    row("t5-base-encoder", "T5", encoder, {8, 12, 12, 512, 512, 64, 64}, bf16, padding(16),
        "google-research/t5x:t5x/examples/t5/t5_1_1/base.gin, num_heads, head_dim; examples/base_c4_pretrain.gin, "
        "TASK_FEATURE_LENGTHS",
        {.scale = 1, .bias = relative}),
    row("t5-base-decoder-self", "T5", prefill, {8, 12, 12, 114, 114, 64, 64}, bf16, causal,
        "google-research/t5x:t5x/examples/t5/t5_1_1/base.gin, num_heads, head_dim; examples/base_c4_pretrain.gin, "
        "TASK_FEATURE_LENGTHS",
        {.scale = 1, .bias = relative}),
    row("t5-base-decoder-cross", "T5", cross, {8, 12, 12, 114, 512, 64, 64}, bf16, padding(16),
        "google-research/t5x:t5x/examples/t5/t5_1_1/base.gin, num_heads, head_dim; examples/base_c4_pretrain.gin, "
        "TASK_FEATURE_LENGTHS",
        {.scale = 1}),
    row("t5-xxl-encoder", "T5", encoder, {1, 64, 64, 512, 512, 64, 64}, bf16, all_keys,
        "google-research/t5x:t5x/examples/t5/t5_1_1/xxl.gin, num_heads, head_dim; "
        "black-forest-labs/flux:src/flux/cli.py, max_length = 512",
        {.scale = 1, .bias = relative}),
    row("t5-xxl-speculative-8", "T5", speculative, {1, 64, 64, 8, 128, 64, 64}, bf16, causal,
        "Leviathan et al. 2022, arXiv:2211.17192, table 2, γ = 7; google-research/t5x:t5x/examples/t5/t5_1_1/xxl.gin, "
        "num_heads, head_dim",
        {.scale = 1, .bias = relative}),
};

}  // namespace production_table

std::span<production_shape const> production_shapes() noexcept { return production_table::rows; }

}  // namespace attest::audit
