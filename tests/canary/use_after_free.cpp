int main() {
    int* volatile values = new int[8]();
    delete[] values;
    return values[3];
}
