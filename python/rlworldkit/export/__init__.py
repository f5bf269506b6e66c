"""Export of trained policies for other programs, as ONNX, safetensors or npz."""
